"""Runs the Python text that is its first argument; the others are in sys.argv from 1 on."""

import sys

del sys.argv[0]
exec(compile(sys.argv[0], "<script>", "exec"), {"__name__": "__main__"})
