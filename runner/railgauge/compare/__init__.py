"""What is held against what, and what became of it: which cases changed, and what did beside."""
