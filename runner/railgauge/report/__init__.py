"""Report definitions, the tables they describe, and their text, HTML, LaTeX and CSV."""
