"""A run: its stages, from the plan to what is stored."""
