"""Ways to reach a host: `base` is the interface, one module for each, `connect` lists them."""

from railgauge.hosts.transport.registry import check_transports, open_transport

__all__ = ["check_transports", "open_transport"]
