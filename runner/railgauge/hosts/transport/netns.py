"""Programs in a network namespace of this machine, which stands for a host of its own.

All but the network and the name is the machine's own: files, processes, CPUs.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.local import LocalProcess, LocalTransport, search_path

_NAMESPACES = "run/netns"  # where iproute2 keeps them by name


class NetnsTransport(LocalTransport):
    """The namespace `namespace`, under the name `host` that the plan gives it.

    `holder` is the process in whose user namespace it is, None if it is in ours.
    """

    def __init__(self, host: str, namespace: str, holder: int | None = None) -> None:
        # All of them become the program, so that killing them kills it.
        super().__init__(host, (*enter(holder), *inside(namespace)))
        self._namespace = namespace
        self._holder = holder

    def start(self, argv: Sequence[str]) -> LocalProcess:
        """See `Transport.start`."""
        if not exists(self._namespace, self._holder):
            raise HostUnreachableError(
                f"{self.host}: the network namespace {self._namespace} is gone: "
                "build it again (railgauge testbed up), and run the plan with its new hosts file"
            )
        if self._holder is None and os.geteuid() != 0:
            raise HostUnreachableError(
                f"{self.host}: only root may enter the network namespace {self._namespace}: run "
                "as root, or build a testbed of your own (railgauge testbed up)"
            )
        # What `ip` says of a program that isn't there is lost among the program's own words.
        if shutil.which(argv[0], path=search_path()) is None:
            raise EnvironmentFailedError(
                f"{self.host}: can't start {argv[0]!r}: there is no such program; "
                "check its spelling, PATH and permissions"
            )
        return super().start(argv)


def enter(holder: int | None) -> tuple[str, ...]:
    """Return what goes before a command line to run it in the holder's namespaces."""
    if holder is None:
        return ()
    return ("nsenter", "-t", str(holder), "-U", "-m", "-n", "--preserve-credentials", "--")


def inside(namespace: str) -> tuple[str, ...]:
    """Return what goes before a command line to run it in the network namespace.

    It has a host name of its own: Open MPI 5 takes hosts of one name for one host in its
    collective operations, and those then wait for each other for ever.
    """
    script = 'hostname "$1" && shift && exec ip netns exec "$0" "$@"'
    return ("unshare", "--uts", "sh", "-c", script, namespace, host_name(namespace))


def host_name(namespace: str) -> str:
    """Return what a namespace's programs take for their host's name."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", namespace)[:64].rstrip(".-")


def namespace_file(namespace: str, holder: int | None) -> Path:
    """Return the file that stands for a namespace, as we see it."""
    root = Path("/") if holder is None else Path(f"/proc/{holder}/root")
    return root / _NAMESPACES / namespace


def exists(namespace: str, holder: int | None = None) -> bool:
    """Return whether there is such a namespace; a file where one was mounted is none."""
    path = namespace_file(namespace, holder)
    try:
        return path.stat().st_dev != path.parent.stat().st_dev
    except OSError:
        return False
