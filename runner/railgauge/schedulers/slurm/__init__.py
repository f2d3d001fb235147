"""Slurm: the allocation we are in, its nodes and its end, and the batch script for a plan."""
