"""What a report is written as: text, HTML, LaTeX, CSV."""
