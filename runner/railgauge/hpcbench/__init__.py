"""Hpcbench's files: its text output and system logs, written and read."""
