"""A paper made again: what it published beside what was measured since."""
