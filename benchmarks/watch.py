"""What rail-watch costs the machine that it watches.

First its own CPU time as a share of one CPU, at several intervals. Then throughput and round trips
between two network namespaces joined by a veth pair, with rail-watch on both ends (a sample a
second) and without, in turn; the ratio of the medians stands beside the spread of either kind: half
of the range that holds the middle half of the runs, as a share of their median. Needs root.

    python -m benchmarks.watch [--runs 15] [--duration 2s] [--seconds 10]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.machine import engines, need

LEFT, RIGHT = "10.98.0.1", "10.98.0.2"
TESTS = {
    "tcp stream": ("tcp", "--mode=stream", "--congestion=system"),
    "udp stream 1460 B": ("udp", "--mode=stream", "--datagram=1460"),
    "udp latency 64 B": ("udp", "--mode=latency", "--datagram=64"),
}
METRICS = {"stream": "throughput", "latency": "rtt_p50"}


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def two_namespaces() -> Iterator[tuple[str, str]]:
    left, right = (f"watchbench{os.getpid()}{side}" for side in "lr")
    try:
        for name in (left, right):
            ip("netns", "add", name)
        ip("-n", left, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", right)
        for name, address in ((left, LEFT), (right, RIGHT)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "v0")
            ip("-n", name, "link", "set", "v0", "up")
        yield left, right
    finally:
        for name in (left, right):
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def watched(folder: Path, names: tuple[str, ...]) -> Iterator[None]:
    """A watcher in each of the namespaces, each writing to where nothing is kept."""
    watchers = [
        subprocess.Popen(
            ["ip", "netns", "exec", name, folder / "rail-watch", "--json", "--interval=1s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        for name in names
    ]
    try:
        yield
    finally:
        for watcher in watchers:
            assert watcher.stdin
            watcher.stdin.close()
            watcher.wait(timeout=30)


def measure(folder: Path, names: tuple[str, str], test: tuple[str, ...], duration: str) -> float:
    engine, *options = test
    program = str(folder / f"rail-{engine}")
    server = subprocess.Popen(
        [
            "ip",
            "netns",
            "exec",
            names[1],
            program,
            "server",
            "--open=::",
            "--json",
            "--port=0",
            "--once",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin
    assert server.stdout
    try:
        port = json.loads(server.stdout.readline())["port"]
        flags = ["--json", f"--port={port}", "--replications=1", f"--duration={duration}", *options]
        client = subprocess.run(
            ["ip", "netns", "exec", names[0], program, "client", RIGHT, *flags],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        server.stdin.close()
        server.wait(timeout=30)
        server.stdout.close()
    events = [json.loads(line) for line in client.stdout.splitlines()]
    (metrics,) = (event["metrics"] for event in events if event["event"] == "replication")
    mode = options[0].removeprefix("--mode=")
    return float(metrics[METRICS[mode]])


def spread(values: list[float]) -> float:
    """Half of the range that holds the middle half, as a share of the median."""
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / statistics.median(values)


def compare(folder: Path, runs: int, duration: str) -> None:
    print(f"{'':<18} {'without':>12} {'with':>12} {'ratio':>7} {'spread without':>15} {'with':>7}")
    with two_namespaces() as names:
        for title, test in TESTS.items():
            plain: list[float] = []
            beside: list[float] = []
            for run in range(runs):
                for kind in (0, 1) if run % 2 else (1, 0):
                    if kind:
                        with watched(folder, names):
                            beside.append(measure(folder, names, test, duration))
                    else:
                        plain.append(measure(folder, names, test, duration))
            middle, other = statistics.median(plain), statistics.median(beside)
            print(
                f"{title:<18} {middle:>12.4g} {other:>12.4g} {other / middle:>7.4f}"
                f" {spread(plain):>14.2%} {spread(beside):>7.2%}",
                flush=True,
            )


def share(folder: Path, interval: str, seconds: float) -> tuple[int, float]:
    """Samples taken, and the CPU time of it all in seconds."""
    argv = [
        str(folder / "rail-watch"),
        "--json",
        f"--interval={interval}",
        f"--deadline={seconds}s",
    ]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    with process.stdout:
        samples = sum('"sample"' in line for line in process.stdout)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return samples, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="two at least")
    parser.add_argument("--duration", default="2s")
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    need(os.geteuid() == 0, "root, to make network namespaces")
    folder = engines()
    print(f"{'interval':<10} {'samples':>8} {'us a sample':>12} {'of one CPU':>11}")
    for interval in ("10ms", "100ms", "1s"):
        began = time.monotonic()
        samples, used = share(folder, interval, arguments.seconds)
        elapsed = time.monotonic() - began
        cost = used / samples * 1e6
        print(f"{interval:<10} {samples:>8} {cost:>12.0f} {used / elapsed:>11.3%}", flush=True)
    print()
    compare(folder, arguments.runs, arguments.duration)


if __name__ == "__main__":
    main()
