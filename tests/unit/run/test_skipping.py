"""Other people's programs on the hosts of a run."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.fake import FakeTransport, Program
from railgauge.run.job import HeldRun, Request, extended
from railgauge.run.pipeline import arrange, expand, read
from railgauge.run.progress import PlainProgress
from railgauge.run.skipping import find_programs

PLAN = """\
railgauge: 1
name: mixed
hosts: {a: {address: 10.0.0.1, ssh: a}, b: {address: 10.0.0.2, ssh: b}}
links: {ab: {from: a, to: b}}
tests: [{name: theirs, engine: iperf3}, {name: ours, engine: tcp}]
"""


def shell(argv: Sequence[str]) -> Program:
    """Lack no program, and say a version where one is asked for."""
    if "--version" in argv:
        yield "iperf 3.16"
    return 0


def test_a_run_that_goes_on_has_the_versions_of_what_it_has_measured_with(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    hosts = {name: FakeTransport(name, {"sh": shell}) for name in "ab"}
    request = Request(str(tmp_path / "railgauge.db"), plan=tmp_path / "plan.yaml")
    with request, contextlib.ExitStack() as cleanup:
        job = arrange(expand(read(request, PlainProgress(io.StringIO()), cleanup)))
        held_run = extended(
            HeldRun,
            job,
            transports={job.machines[name]: host for name, host in hosts.items()},
            lost={},
            left_out=0,
            sites={name: EquippedHost(host, "/engines") for name, host in hosts.items()},
            tell_others=print,
            holds=None,
        )
        rest = held_run.schedule.keep(lambda dispatch: dispatch.test == "ours")
        versions = find_programs(held_run).versions
        assert find_programs(replace(held_run, schedule=rest)).versions == versions
    assert {**versions} == {name: {"engine_iperf3": "iperf 3.16"} for name in held_run.transports}
