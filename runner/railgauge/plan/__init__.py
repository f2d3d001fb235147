"""Plans: what their files may say, and what that means with the engines' descriptions at hand."""
