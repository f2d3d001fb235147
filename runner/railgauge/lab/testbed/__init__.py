"""A cluster in a box: hosts as network namespaces on this machine, with the links a file asks for.

`testbed_model` is the file, `layout` what it comes to, `state` what was made and how it goes again.
"""
