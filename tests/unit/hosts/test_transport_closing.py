"""Letting go of many hosts: all of them, side by side."""

from __future__ import annotations

import threading

from railgauge.hosts.transport.closing import close_all
from railgauge.hosts.transport.fake import FakeTransport


class Meeting(FakeTransport):
    """A host that lets go only once the others are about to as well."""

    def __init__(self, host: str, all_there: threading.Barrier) -> None:
        super().__init__(host, {})
        self.closed = False
        self._all_there = all_there

    def close(self) -> None:
        self._all_there.wait(60)
        self.closed = True


def test_silent_hosts_are_let_go_of_side_by_side() -> None:
    all_there = threading.Barrier(50)
    hosts = [Meeting(f"n{number}", all_there) for number in range(50)]
    close_all(hosts)
    assert all(host.closed for host in hosts)


def test_more_hosts_than_threads_are_all_let_go_of() -> None:
    alone = threading.Barrier(1)
    hosts = [Meeting(f"n{number}", alone) for number in range(1000)]
    close_all(hosts)
    assert all(host.closed for host in hosts)


def test_no_host_at_all_is_nothing_to_do() -> None:
    close_all([])
