"""Timing claims, side by side: `make bench-NAME` runs one, `make bench` all at smallest sizes."""
