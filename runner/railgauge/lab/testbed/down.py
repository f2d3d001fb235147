"""`down`: removes all of a testbed, however far `up` had come."""

from __future__ import annotations

import os
from dataclasses import replace

from railgauge.base.errors import InputError
from railgauge.hosts.transport.netns import exists
from railgauge.lab.testbed.state import ClusterRecord, State, locked, translated
from railgauge.lab.testbed.system_commands import end, inside, processes_of, tool


def down(state: State) -> None:
    """Remove the testbed: what runs on its hosts ends, as if they lost power."""
    with locked():
        remove(state)


def remove(state: State) -> None:
    """Remove the testbed; the lock is ours."""
    if state.record is not None:
        _remove(state.record)
    with translated():
        state.forget()


def _remove(record: ClusterRecord) -> None:
    processes = processes_of(record.token)
    holder = record.holder if record.holder in processes else None
    record = replace(record, holder=holder)
    _end_builders(record)
    # An ordinary user's namespaces went with their holder, or it never came to them.
    candidates = record.layout.all_namespaces if record.privileged or holder else ()
    existing = [name for name in candidates if exists(name, holder)]
    running = inside(existing, holder)
    if os.getpid() in running:
        raise InputError(
            f"this very command runs on a host of the testbed {record.layout.name}: "
            "leave it first (exit), for all that runs there ends"
        )
    end(running)
    if existing:
        tool(record, "ip", "-batch", "-", lines=[("netns", "del", name) for name in existing])
    if holder is not None:
        end([holder])


def _end_builders(record: ClusterRecord) -> None:
    """End the relays, and what a killed `up` still has at work, until nothing new comes of it."""
    while working := [pid for pid in processes_of(record.token) if pid != record.holder]:
        end(working)
