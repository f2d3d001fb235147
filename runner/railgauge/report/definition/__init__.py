"""Report definitions: what may be asked for, by name."""
