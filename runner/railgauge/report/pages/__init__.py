"""What stands beside tables and figures: cases, machines, paths, appendix."""
