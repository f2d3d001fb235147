"""railgauge measures how fast a cluster's machines talk to one another, from plans in git."""

__version__ = "0.1.0"
