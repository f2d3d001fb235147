"""Ways to reach a host, a module each: `interface` is what all have, `registry` names them."""

from railgauge.hosts.transport.registry import check_transports, open_transport

__all__ = ["check_transports", "open_transport"]
