"""The stages of a run, where the user stops it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.fake import FakeTransport, Program
from railgauge.run.job import InspectedRun, Request, extended
from railgauge.run.pipeline import arrange, expand, read, watch
from railgauge.run.progress import PlainProgress
from railgauge.run.recording import record

PLAN = """\
railgauge: 1
name: pair
hosts: {a: {address: 10.0.0.1, ssh: a}, b: {address: 10.0.0.2, ssh: b}}
links: {ab: {from: a, to: b}}
tests: [{name: t, engine: tcp, replications: 2}]
"""


def stopped(argv: Sequence[str]) -> Program:
    raise KeyboardInterrupt


def test_who_stops_a_run_while_its_watchers_start_is_told_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    hosts = {name: FakeTransport(name, {"rail-watch": stopped}) for name in "ab"}
    request = Request(str(tmp_path / "railgauge.db"), plan=tmp_path / "plan.yaml")
    with request, contextlib.ExitStack() as cleanup:
        job = arrange(expand(read(request, PlainProgress(io.StringIO()), cleanup)))
        inspected = extended(
            InspectedRun,
            job,
            transports={job.machines[name]: host for name, host in hosts.items()},
            lost={},
            left_out=0,
            sites={name: EquippedHost(host, "/engines") for name, host in hosts.items()},
            tell_others=print,
            holds=None,
            skipped={},
            versions={},
            facts={},
        )
        recorded = record(inspected)
        with pytest.raises(KeyboardInterrupt) as caught:
            watch(recorded)
    (note,) = caught.value.__notes__
    command = f"railgauge resume 1 --db {tmp_path}/railgauge.db"
    assert note == f"What was measured is stored; go on with: {command}"
