"""Tables: from measurements to rows, columns, cells and their marks."""
