"""A static site of all runs: what `compare` and `history` say, made again where it is due."""
