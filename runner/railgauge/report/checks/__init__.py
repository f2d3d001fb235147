"""What is wrong with a report definition, each mistake with its place; `spec` reads one."""
