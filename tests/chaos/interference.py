"""Clocks that are set, strangers at a server's port, and other runs of the same machines."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring, finish, nothing_left
from tests.support import ROOT
from tests.support.engine_cache import deploy_here

CLIENTS, STRANGERS = 10, 8
CONTROLLERS = 3


def set_clock(place: Place) -> list[Finding]:
    """Set the controller's and the engines' clock by up to an hour while they measure."""
    findings: list[Finding] = []
    library = place.lab("clock", lambda _: _clock(place.folder.parent))
    measuring = Measuring(place.folder)
    step = place.folder / "step"
    with nothing_left(findings):
        preload = {"LD_PRELOAD": str(library), "CLOCK_STEP": str(step)}
        controller = measuring.start("run", "plan.yaml", **preload)
        before = measuring.await_stored(place.chance.randrange(measuring.planned), controller)
        writing = place.folder / "writing"
        writing.write_text(str(place.chance.choice((-1, 1)) * place.chance.randrange(60, 3601)))
        writing.rename(step)
        outcome = finish(controller)
        if outcome.code:
            sentence = f"a clock that was set ended the run: {outcome.output[-200:]}"
            findings.append(Finding("refused", sentence))
        findings += measuring.complete(outcome)
        findings += measuring.compare(before)
    return findings


def _clock(folder: Path) -> Path:
    library = folder / "stepped.so"
    source = ROOT / "tests/integration/stepped_clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def _no_compiler() -> str:
    return "" if shutil.which("cc") else "a C compiler"


def meet_strangers(place: Place) -> list[Finding]:
    """Measure by hand with a server that strangers pester, then with a server that is one."""
    findings: list[Finding] = []
    build = place.lab("engines", lambda _: deploy_here() / "build")
    program = str(build / f"rail-{place.chance.choice(('udp', 'tcp'))}")
    environment = {**os.environ, "RAILGAUGE_SECRET": f"{place.chance.getrandbits(128):032x}"}
    with nothing_left(findings), ExitStack() as closing:
        server = subprocess.Popen(
            [program, "server", "--json", "--deadline=600"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        closing.callback(server.wait)
        closing.enter_context(server)
        assert server.stdin is not None and server.stdout is not None
        closing.callback(server.stdin.close)
        port = json.loads(server.stdout.readline())["port"]
        closing.enter_context(_strangers(port, place.chance.getrandbits(64)))
        for _ in range(CLIENTS):
            client = [program, "client", "127.0.0.1", f"--port={port}", "--json", "--mode=latency"]
            served = _client([*client, "--replications=1", "--count=20"], environment)
            if served.returncode:
                findings.append(Finding("refused", f"an honest client: {served.stdout[-200:]}"))
    return findings


def _client(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


@contextmanager
def _strangers(port: int, seed: int) -> Iterator[None]:
    """Connect again and again, say nothing, noise or half of something, and hold on."""
    ended = threading.Event()

    def pester(chance: Random) -> None:
        while not ended.wait(0.01):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
                connection.sendall(chance.randbytes(chance.choice((0, 1, 7, 12, 500, 70_000))))
                ended.wait(chance.uniform(0, 1))

    threads = [threading.Thread(target=pester, args=(Random(seed + n),)) for n in range(STRANGERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def meet_impostor(place: Place) -> list[Finding]:
    """Measure by hand with a server that answers noise: an error, no number."""
    findings: list[Finding] = []
    build = place.lab("engines", lambda _: deploy_here() / "build")
    engine = place.chance.choice(("udp", "tcp"))
    noise = place.chance.randbytes(place.chance.choice((0, 1, 12, 64, 4096, 1 << 20)))
    if place.chance.random() < 0.5:
        noise = b"RAIL" + noise
    with nothing_left(findings), socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)

        def answer() -> None:
            with suppress(OSError), listening.accept()[0] as connection:
                connection.sendall(noise)
                connection.settimeout(1)
                connection.recv(4096)

        impostor = threading.Thread(target=answer)
        impostor.start()
        began = time.monotonic()
        command = [str(build / f"rail-{engine}"), "client", "127.0.0.1", "--json"]
        port = listening.getsockname()[1]
        ended = _client([*command, f"--port={port}", "--replications=1"], {**os.environ})
        impostor.join()
        if ended.returncode == 0 or '"event":"replication"' in ended.stdout.replace(" ", ""):
            findings.append(Finding("wrong result", f"a number of noise: {ended.stdout[-200:]}"))
        if time.monotonic() - began > 120:
            findings.append(Finding("late", f"{time.monotonic() - began:.0f} s to give noise up"))
    return findings


def contend(place: Place) -> list[Finding]:
    """Start several runs of one machine at once: they wait, and none measures beside another."""
    findings: list[Finding] = []
    runs = []
    for number in range(CONTROLLERS):
        folder = place.folder / str(number)
        folder.mkdir()
        runs.append(Measuring(folder, figures=3, pings=2))
    with nothing_left(findings):
        controllers = []
        for measuring in runs:
            controllers.append(measuring.start("run", "plan.yaml", "--wait", "5min"))
            time.sleep(place.chance.uniform(0, 0.3))
        for measuring, controller in zip(runs, controllers, strict=True):
            outcome = finish(controller)
            if outcome.code:
                findings.append(Finding("refused", f"a run that waits: {outcome.output[-200:]}"))
            findings += measuring.complete(outcome)
            findings += measuring.compare({})
    spans = sorted(
        (*map(float, line.split()), number)
        for number, measuring in enumerate(runs)
        for line in (measuring.folder / "times").read_text().splitlines()
    )
    for (_, ended, one_run), (began, _, other) in itertools.pairwise(spans):
        if began < ended and one_run != other:
            sentence = f"runs {one_run} and {other} measured at once, {began:g} < {ended:g}"
            findings.append(Finding("wrong result", sentence))
    return findings


DISASTERS = (
    Disaster("clock", "clocks are set by up to an hour", set_clock, 40, 2, _no_compiler),
    Disaster("strangers", "strangers pester a server", meet_strangers, 20, 2, _no_compiler),
    Disaster("impostor", "a server answers noise", meet_impostor, 50, 5, _no_compiler),
    Disaster("contend", f"{CONTROLLERS} runs of one machine at once", contend, 15, 1),
)
