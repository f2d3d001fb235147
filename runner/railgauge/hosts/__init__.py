"""Hosts: how programs start there, what they are, what they could do, what connects them."""
