"""A standing campaign of everyday disasters: `make chaos`."""
