"""Hpcbench's files: the text of `udptest -o` and its system logs, written and read.

`layout` has the texts and columns of both ways; `output_*` and `log_*` turn them from and into the
plain values of `records`; `export` and `importing` turn those from and into runs of the store.
"""
