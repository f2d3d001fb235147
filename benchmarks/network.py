"""rail-udp and rail-tcp side by side with the network tools that are installed, over loopback.

Each round runs every contender once, in turn, so that what disturbs the machine disturbs all; the
order moves on by one each round. The client has one CPU and the server another. All of it happens
in a network namespace whose route says `congctl cubic`, as several tools cannot be told; where no
namespace may be made, the table says which congestion control those took.

    python -m benchmarks.network [--rounds 5] [--duration 2] [--works tcp-128k …] [--json]

`--iperf3 FOLDER` (make bench-network IPERF3=FOLDER) builds iperf3 of these sources and measures it
instead of the one installed, which may be too old for --gsro.

NetPIPE gives the best of three trials, and is held beside ours of as many in the same time; a best
trial is some percent better than a mean. qperf never writes the buffer that it sends, which so is
one page of zeros: 10 to 18 % faster than data. CPU seconds are those of the whole programs, start
and end included. The exit code is 0 unless something failed to run; a target that isn't met is no
failure.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import engines
from benchmarks.network_job import CONGESTION, Contender, Setting, measure
from benchmarks.network_process import RunError
from benchmarks.network_table import Row, work_json, work_text
from benchmarks.network_works import WORKS, Work

HERE = Path(__file__).resolve().parent
BUFFER = 4 * 1024**2  # Linux grants twice that: 8 MiB
FAILURES = 2  # a contender that failed so often is not tried again

# The address beside 127.0.0.1 is for netperf: with none but loopback's, getaddrinfo's AI_ADDRCONFIG
# takes IPv4 for not configured. It is of the block for documentation (RFC 5737).
NAMESPACE = f"""\
ip link set lo up && ip address add 192.0.2.1/32 dev lo &&
ip route replace local 127.0.0.1 dev lo table local proto kernel scope host src 127.0.0.1 \
  congctl {CONGESTION} && exec "$@"
"""
VERSIONS = {
    "iperf3": "--version",
    "iperf": "-v",
    "sockperf": "--version",
    "qperf": "-V",
    "nuttcp": "-V",
    "netperf": "-V",
}


def enter_namespace() -> None:
    """Start again in a network namespace, or return if that isn't allowed."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    prefix = ["unshare", "--net", *rights, "sh", "-c", NAMESPACE, "sh"]
    if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0:
        script = [sys.executable, "-m", "benchmarks.network", "--here", *sys.argv[1:]]
        os.execvp(prefix[0], [*prefix, *script])


def default_congestion() -> str:
    """What a connection gets that asks for nothing."""
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        client.connect(listener.getsockname())
        name = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return name.rstrip(b"\0").decode()


def build(folder: Path) -> Path:
    """Build the probe."""
    environment = {name: value for name, value in os.environ.items() if name != "CFLAGS"}
    probe = folder / "probe"
    compiler = os.environ.get("CC") or next(
        (name for name in ("cc", "gcc", "clang") if shutil.which(name)), "cc"
    )
    flags = ["-O2", "-std=c11", "-D_GNU_SOURCE", "-o", str(probe), str(HERE / "probe.c")]
    command = [*compiler.split(), *flags]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    except FileNotFoundError:
        sys.exit(f"network.py: there is no {command[0]}: install a C compiler")
    except subprocess.CalledProcessError as error:
        sys.exit(f"network.py: {' '.join(command)} failed:\n{error.stderr}")
    return probe


def use_iperf3(sources: Path, folder: Path) -> None:
    """Build iperf3 of `sources` in a copy of them, and have it come first in PATH."""
    if not (sources / "configure").is_file():
        sys.exit(f"network.py: --iperf3 {sources}: there is no configure: name a folder of sources")
    copy = Path(shutil.copytree(sources, folder / "iperf3", ignore=shutil.ignore_patterns(".git")))
    for command in (["./configure", "--disable-shared"], ["make", "-C", "src", "iperf3"]):
        completed = subprocess.run(command, cwd=copy, capture_output=True, text=True)
        if completed.returncode != 0:
            sys.exit(
                f"network.py: {' '.join(command)} in {sources} failed:\n{completed.stderr[-2000:]}"
            )
    os.environ["PATH"] = f"{copy / 'src'}{os.pathsep}{os.environ['PATH']}"


def missing(contender: Contender) -> str:
    """What keeps a contender from being run; empty if nothing does."""
    for program in contender.needs:
        if not shutil.which(program):
            return f"{program} is not installed"
    if contender.option:
        # All tools here print their help and end, with whatever exit code.
        command = [contender.needs[0], "--help"]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=10)
        if contender.option not in completed.stdout + completed.stderr:
            return f"this {contender.needs[0]} has no {contender.option}"
    return ""


def run_work(work: Work, setting: Setting, rounds: int) -> list[Row]:
    rows = [Row(contender, missing(contender)) for contender in work.contenders]
    running = [row for row in rows if not row.missing]
    for number in range(rounds):
        shift = number % len(running)
        for row in running[shift:] + running[:shift]:
            if len(row.errors) >= FAILURES:
                continue
            say(f"{work.key}: round {number + 1} of {rounds}, {row.contender.name}")
            try:
                row.measured.append(measure(row.contender, setting))
            except RunError as error:
                row.errors.append(str(error))
    say("")
    return rows


def say(text: str) -> None:
    """Tell a person who looks on what is being done; the last line is wiped."""
    if sys.stderr.isatty():
        print(f"\r{text:<60}\r", end="", file=sys.stderr, flush=True)


def circumstances(setting: Setting, rounds: int) -> dict[str, Any]:
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "cpu": f"{os.cpu_count()} x {models[0] if models else platform.machine()}",
        "client_cpu": setting.client_cpu,
        "server_cpu": setting.server_cpu,
        "congestion": CONGESTION,
        "default_congestion": default_congestion(),
        "udp_buffer_asked": setting.buffer,
        "rounds": rounds,
        "seconds": setting.seconds,
        "load_before": os.getloadavg()[0],
        "tools": {name: version(name, flag) for name, flag in VERSIONS.items()},
    }


def version(program: str, flag: str) -> str | None:
    if not shutil.which(program):
        return None
    completed = subprocess.run([program, flag], capture_output=True, text=True, timeout=10)
    lines = (completed.stdout + completed.stderr).strip().splitlines()
    return lines[0].strip() if lines else None


def head(facts: dict[str, Any]) -> str:
    tools = "; ".join(line for line in facts["tools"].values() if line)
    own = facts["default_congestion"]
    note = "" if own == CONGESTION else f"; nuttcp, qperf, sockperf and NPtcp took {own}"
    return (
        f"{facts['at']}, Linux {facts['kernel']}, {facts['cpu']}, load {facts['load_before']:.2f}\n"
        f"client on CPU {facts['client_cpu']}, server on CPU {facts['server_cpu']}; "
        f"congestion control {facts['congestion']}{note};\n"
        f"UDP streams ask for socket buffers of {facts['udp_buffer_asked']} B; "
        f"medians of {facts['rounds']} rounds of {facts['seconds']} s\n{tools}\n"
    )


def buffer_size() -> int:
    """As much as the kernel grants everybody: iperf3 refuses to run with less than it asked for."""
    granted = BUFFER
    with socket.socket(type=socket.SOCK_DGRAM) as trial:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            trial.setsockopt(socket.SOL_SOCKET, option, BUFFER)
            granted = min(granted, trial.getsockopt(socket.SOL_SOCKET, option) // 2)
    return granted


def main() -> int:
    cpus = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--duration", type=float, default=2.0, help="seconds (default 2)")
    keys = [work.key for work in WORKS]
    parser.add_argument("--works", nargs="+", choices=keys, default=keys, metavar="WORK")
    parser.add_argument("--client-cpu", type=int, default=cpus[min(1, len(cpus) - 1)])
    parser.add_argument("--server-cpu", type=int, default=cpus[0])
    parser.add_argument("--engines", type=Path, help="a folder of engines that are built already")
    parser.add_argument("--iperf3", type=Path, metavar="FOLDER", help="its sources, to be built")
    parser.add_argument("--json", action="store_true", help="all measurements, in base units")
    parser.add_argument("--here", action="store_true", help="make no network namespace")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.duration <= 0:
        parser.error("--rounds and --duration must be more than 0")
    if not arguments.here:
        enter_namespace()
    with tempfile.TemporaryDirectory() as name:
        if arguments.iperf3:
            use_iperf3(arguments.iperf3, Path(name))
        setting = Setting(
            arguments.duration,
            arguments.client_cpu,
            arguments.server_cpu,
            buffer_size(),
            arguments.engines or engines(),
            build(Path(name)),
        )
        return compare(arguments.works, setting, arguments.rounds, as_json=arguments.json)


def compare(keys: list[str], setting: Setting, rounds: int, *, as_json: bool) -> int:
    facts = circumstances(setting, rounds)
    failed = False
    works = []
    if not as_json:
        print(head(facts), flush=True)
    for work in WORKS:
        if work.key not in keys:
            continue
        rows = run_work(work, setting, rounds)
        failed = failed or any(row.errors for row in rows)
        works.append(work_json(work, rows))
        if not as_json:
            print(work_text(work, rows), flush=True)
    if as_json:
        print(json.dumps({**facts, "works": works}, indent=1, ensure_ascii=False))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
