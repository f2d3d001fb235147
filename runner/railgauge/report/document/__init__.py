"""A whole report: what is read for it, how its parts become a document, and its files."""
