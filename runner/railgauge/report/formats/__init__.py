"""What tables and texts are written as: text, LaTeX, CSV, and the templates of all forms."""
