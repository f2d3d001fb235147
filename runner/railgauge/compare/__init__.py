"""The comparison of two sets of runs: which cases changed, and what else did."""
