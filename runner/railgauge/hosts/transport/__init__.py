"""Ways to reach a host: what they are stands in `interface`, each in a module, all in `registry`."""

from railgauge.hosts.transport.registry import check_transports, open_transport

__all__ = ["check_transports", "open_transport"]
