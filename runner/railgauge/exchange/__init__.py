"""Other programs' formats, in and out."""
