"""Ways to reach a host: `base` is the interface, one module for each kind."""

from railgauge.hosts.transport.connect import open_transport

__all__ = ["open_transport"]
