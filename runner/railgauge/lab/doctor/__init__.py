"""Whether hosts are ready to be measured: one small module a check, judging apart from asking.

To add a check: write a module like `compiler.py` and name it in `probe.CHECKS`. One program launch
on each host runs the scripts of all of them.
"""
