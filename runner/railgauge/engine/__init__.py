"""Reaching the engines: their sources on a host, their events, what a launch came to."""
