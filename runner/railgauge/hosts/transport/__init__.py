"""Ways to reach a host: `interface` says what one does, each is a module, `registry` lists them."""

from railgauge.hosts.transport.registry import check_transports, open_transport

__all__ = ["check_transports", "open_transport"]
