"""Batch schedulers: what is allocated, the batch script, when time ends."""
