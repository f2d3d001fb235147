"""The public view `measurement` in files that other people's programs read (docs/export.md)."""
