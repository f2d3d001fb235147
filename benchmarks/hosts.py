"""What it takes until a cluster's hosts are ready: reached, equipped, held, inspected, watched.

First with simulated hosts behind a network of a stated latency, with a controller's link of a
stated rate; none of them has the engines, and each builds them. All that the controller does is
real, but for ssh's encryption. Then with real sshds in network namespaces, whose logins have the
engines. Prints for each number of hosts the seconds of each stage and of ending it all, CPU
seconds, and what the controller needed at most: memory, threads, open files.

    python -m benchmarks.hosts [--hosts 100 1000 10000] [--sshd 50] [--latency 20] [--rate 1000]
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from tests.support import sshlab

from benchmarks.far_hosts import FarHost, Network
from benchmarks.machine import need
from railgauge.hosts.transport import open_transport
from railgauge.hosts.transport.interface import Transport
from railgauge.plan.model import Host
from railgauge.run.certified_hosts import require_certificates
from railgauge.run.execution import Observer
from railgauge.run.holding import announce, hold
from railgauge.run.job import Request
from railgauge.run.pipeline import arrange, equip, expand, inspect, read, watch
from railgauge.run.reaching import reach
from railgauge.run.recording import record
from railgauge.run.skipping import find_programs

T = TypeVar("T")
STAGES = ("read", "reach", "equip", "hold", "facts", "record", "watch", "end")
GOALS = "goals: 1,000 simulated hosts ready in 60 s at a round trip of 20 ms, 1,024 MiB"
PLAN = """\
railgauge: 1
name: hosts
concurrency: 64
hosts:
{hosts}
links: {{around: ring}}
tests:
  - {{name: latency, engine: tcp, links: [around], set: {{mode: latency, duration: 1s}}}}
"""


class Most:
    """How many threads this process has had and how many files it has had open, at most."""

    def __init__(self) -> None:
        self.threads = self.files = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Most:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            self.threads = max(self.threads, threading.active_count())
            self.files = max(self.files, sum(1 for _ in Path("/proc/self/fd").iterdir()))


class Clock:
    """The seconds that each stage took."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @contextlib.contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - began

    def time(self, stage: str, action: Callable[[], T]) -> T:
        with self.timing(stage):
            return action()


@dataclass
class Ready:
    """Counts what has been made ready, to be checked."""

    reached: int
    equipped: int
    inspected: int
    watched: int


def make_ready(
    folder: Path, hosts: Mapping[str, str], open_host: Callable[[str, Host], Transport]
) -> tuple[Clock, Ready]:
    """Take these hosts (name -> address) as far as a run does before it measures, and end it."""
    plan = folder / "plan.yaml"
    lines = [f"  {name}: {{address: {place}, ssh: {name}}}" for name, place in hosts.items()]
    plan.write_text(PLAN.format(hosts="\n".join(lines)))
    clock = Clock()
    request = Request(str(folder / "results.db"), plan=plan)
    with request, contextlib.ExitStack() as cleanup:
        job = partial(read, request, Observer(), cleanup)
        arranged = clock.time("read", lambda: arrange(expand(job())))
        reached = clock.time("reach", lambda: reach(arranged, open_host))
        equipped = clock.time("equip", lambda: equip(reached))
        held_run = clock.time("hold", lambda: hold(equipped))
        inspected = clock.time("facts", lambda: inspect(find_programs(held_run)))
        recorded = clock.time("record", lambda: record(require_certificates(inspected)))
        announce(recorded)
        watched = clock.time("watch", lambda: watch(recorded))
        assert watched.scene is not None
        ready = Ready(
            len({id(transport) for transport in reached.transports.values()}),
            len(equipped.sites),
            sum(bool(facts.get("kernel")) for facts in inspected.facts.values()),
            sum(not watcher.failure for watcher in watched.scene.watchers.values()),
        )
        clock.time("end", cleanup.close)
    return clock, ready


def measure(
    kind: str, hosts: Mapping[str, str], open_host: Callable[[str, Host], Transport]
) -> str:
    """Return the row of one table."""
    with tempfile.TemporaryDirectory() as folder, Most() as most:
        clock, ready = make_ready(Path(folder), hosts, open_host)
    assert ready == Ready(*[len(hosts)] * 4), (ready, len(hosts))
    seconds = clock.seconds
    usage = resource.getrusage(resource.RUSAGE_SELF)
    total = sum(seconds[stage] for stage in STAGES if stage != "end")
    return (
        f"{kind:<10}{len(hosts):>7}"
        + "".join(f"{seconds[stage]:>8.2f}" for stage in STAGES)
        + f"{total:>8.1f}{usage.ru_utime + usage.ru_stime:>8.1f}"
        + f"{usage.ru_maxrss / 1024:>7.0f}{most.threads:>9}{most.files:>7}"
    )


def heading() -> str:
    return (
        f"{'s':<10}{'hosts':>7}"
        + "".join(f"{stage:>8}" for stage in STAGES)
        + f"{'ready':>8}{'CPU':>8}{'MiB':>7}{'threads':>9}{'files':>7}  sent MB"
    )


def simulated(arguments: argparse.Namespace) -> None:
    (count,) = arguments.hosts
    network = Network(
        arguments.latency / 1e3, arguments.rate * 1e6, arguments.build, arguments.equipped
    )
    hosts = {f"n{n:05}": f"10.{n // 62500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(count)}
    row = measure("simulated", hosts, lambda name, _: FarHost(name, network))
    print(f"{row}{network.sent / 1e6:>9.1f}", flush=True)


def real(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            lab = sshlab.build_many(folder, count)
            with sshlab.ssh_config(folder / "ssh_config"):
                hosts = {host.name: host.control for host in lab}
                print(f"{measure('sshd', hosts, open_transport)}{'-':>9}", flush=True)
        finally:
            sshlab.tear_down()


def alone(options: Sequence[str]) -> None:
    """Measure one size in a process of its own, for what that needs."""
    subprocess.run([sys.executable, "-m", "benchmarks.hosts", "--alone", *options], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="*", default=[100, 1000, 10000])
    parser.add_argument("--sshd", type=int, default=50, help="real ones, 64 at most; 0: none")
    parser.add_argument("--latency", type=float, default=20.0, help="of a round trip in ms")
    parser.add_argument("--rate", type=float, default=1000.0, help="of our link in Mbit/s")
    parser.add_argument("--build", type=float, default=10.0, help="what make takes there in s")
    parser.add_argument("--equipped", action="store_true", help="hosts have the engines already")
    parser.add_argument("--alone", action="store_true", help="one size, in this process")
    arguments = parser.parse_args()
    if arguments.alone:
        simulated(arguments) if arguments.hosts else real(arguments.sshd)
        return
    print(
        f"simulated: a round trip takes {arguments.latency:g} ms, our link has {arguments.rate:g} "
        f"Mbit/s, "
        + ("the engines are there" if arguments.equipped else "")
        + ("" if arguments.equipped else f"a build takes {arguments.build:g} s")
    )
    print(heading(), flush=True)
    settings = [f"--latency={arguments.latency}", f"--rate={arguments.rate}"]
    settings += [f"--build={arguments.build}", *["--equipped"] * arguments.equipped]
    for count in arguments.hosts:
        alone(["--hosts", str(count), *settings])
    if arguments.sshd:
        lacking = sshlab.missing()
        need(not lacking, lacking)
        alone(["--sshd", str(arguments.sshd), "--hosts"])
    print(GOALS)


if __name__ == "__main__":
    main()
