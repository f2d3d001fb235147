"""Hosts that are lost after they were reached and before the run is recorded."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from railgauge.base.errors import HostUnreachableError
from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.fake import LINE, LOSS, FakeTransport, Program, Script
from railgauge.run.holding import hold
from railgauge.run.job import CheckedRun, EquippedRun, InspectedRun, Request, extended
from railgauge.run.pipeline import arrange, expand, inspect, perform, read, watch
from railgauge.run.progress import PlainProgress
from railgauge.run.reaching import keeping_going
from railgauge.run.recording import record

PLAN = """\
railgauge: 1
name: pairs
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
  c: {address: 10.0.0.3, ssh: c}
links:
  ab: {from: a, to: b}
  bc: {from: b, to: c}
tests: [{name: t, engine: tcp, replications: 2}]
"""


def holder(argv: Sequence[str]) -> Program:
    yield json.dumps({"event": "held"})
    while (yield LINE) is not None:
        pass
    return 0


def lost(argv: Sequence[str]) -> Program:
    yield LOSS
    return 0


def lost_while_busy(argv: Sequence[str]) -> Program:
    other = {"user": "ann", "uid": 1000, "pid": 42, "seconds": 60.0, "text": "run 12"}
    yield json.dumps({"event": "busy", **other})
    yield LOSS
    return 0


def shell(argv: Sequence[str]) -> Program:
    """Answer what facts are asked for: a route to each peer that is named."""
    _, _, script, _, _, *peers = argv
    mark = script.partition("\n")[0].removeprefix("echo ")
    yield mark
    for peer in peers:
        yield f"route:{peer} dev eth0 src 10.0.0.9"
        yield f"route/peer:{peer}"
    yield mark
    return 0


@contextlib.contextmanager
def equipped(
    folder: Path, *, keep_going: bool, wait: float = 0.0, last: Script = lost
) -> Iterator[tuple[EquippedRun, io.StringIO]]:
    """Give a run on three fake hosts, the last of which vanishes when it is to be held."""
    plan = folder / "plan.yaml"
    plan.write_text(PLAN)
    programs = {"a": holder, "b": holder, "c": last}
    hosts = {
        name: FakeTransport(name, {"rail-hold": program, "sh": shell})
        for name, program in programs.items()
    }
    request = Request(str(folder / "railgauge.db"), plan=plan, wait=wait, keep_going=keep_going)
    output = io.StringIO()
    observer = PlainProgress(output)
    with request, contextlib.ExitStack() as cleanup:
        job = arrange(expand(read(request, observer, cleanup)))
        machines = {job.machines[name]: name for name in hosts}
        yield (
            extended(
                EquippedRun,
                job,
                transports={machine: hosts[name] for machine, name in machines.items()},
                lost={},
                left_out=0,
                sites={name: EquippedHost(host, "/engines") for name, host in hosts.items()},
            ),
            output,
        )


def test_what_needs_a_host_that_is_lost_on_the_way_is_left_out(tmp_path: Path) -> None:
    with equipped(tmp_path, keep_going=True) as (job, output):
        equipped_run = keeping_going(hold, job)
    assert {dispatch.case.link for dispatch in equipped_run.schedule.dispatches} == {"ab"}
    assert (set(equipped_run.sites), len(equipped_run.transports), equipped_run.left_out) == (
        {"a", "b"},
        2,
        2,
    )
    assert "c" in equipped_run.lost
    assert "left out: c: this fake host is lost" in output.getvalue()
    # What was taken before was let go, and taken again.
    assert [len(site.transport.started) for site in equipped_run.sites.values()] == [2, 2]


def test_one_that_is_lost_while_it_is_waited_for_is_left_out_too(tmp_path: Path) -> None:
    with equipped(tmp_path, keep_going=True, wait=60.0, last=lost_while_busy) as (job, output):
        held_run = keeping_going(hold, job)
    assert (set(held_run.sites), set(held_run.lost)) == ({"a", "b"}, {"c"})
    assert "waiting for c" in output.getvalue()


def test_without_keep_going_it_ends_the_run(tmp_path: Path) -> None:
    with equipped(tmp_path, keep_going=False) as (job, _):
        with pytest.raises(HostUnreachableError, match="c: this fake host is lost"):
            keeping_going(hold, job)
        assert all(
            process.stdin_closed for name in "ab" for process in job.sites[name].transport.started
        )


def test_what_a_lost_host_was_needed_for_is_missing_also_where_all_else_is_skipped(
    tmp_path: Path,
) -> None:
    with equipped(tmp_path, keep_going=True) as (job, _):
        held_run = keeping_going(hold, job)
        dispatches = held_run.schedule.dispatches
        skipped = {(dispatch.test, dispatch.case.key): "absent" for dispatch in dispatches}
        schedule = held_run.schedule.keep(lambda dispatch: False)
        added = {"schedule": schedule, "skipped": skipped, "versions": {}, "facts": {}}
        finished = perform(watch(record(extended(InspectedRun, held_run, **added))))
        state = job.request.store.run(finished.run).state
    assert (finished.planned, finished.missing, state) == (2, 2, "interrupted")


def test_who_goes_on_without_a_host_has_the_facts_that_it_had_with_it(tmp_path: Path) -> None:
    with equipped(tmp_path, keep_going=True) as (job, _):
        added = {"skipped": {}, "versions": {}, "tell_others": print, "holds": None}
        whole = extended(CheckedRun, job, **added)
        sites = {name: job.sites[name] for name in "ab"}
        transports = {job.machines[name]: job.transports[job.machines[name]] for name in "ab"}
        rest = replace(whole, sites=sites, transports=transports)
        facts = inspect(whole).facts
        assert inspect(rest).facts == {name: facts[name] for name in "ab"}
    assert set(facts["b"]) == {"peer_interfaces", "route.10.0.0.1", "route.10.0.0.3"}
