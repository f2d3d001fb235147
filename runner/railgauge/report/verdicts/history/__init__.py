"""A case's history as people and programs read it: text, JSON, a figure."""
