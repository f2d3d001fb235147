"""railgauge: measures how fast a cluster's machines talk to one another, and keeps every measurement."""

__version__ = "0.1.0"
