"""How often a gate raises a false alarm: real runs of a plan held against its own baseline.

Twenty gates of one plan over this machine's loopback interface, whose baseline is three runs of
the same plan: nothing changed, so each case that is called slower is a false alarm. Wants an idle
machine; on a busy one what is disturbed by others is really slower.

    python -m benchmarks.aa [--comparisons 20] [--no-confirm] [--sizes 5] [--replications 10]
        [--duration 200ms] [--baseline-runs 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PLAN = """\
railgauge: 1
name: itself
hosts: {{here: {{address: 127.0.0.1, transport: local}}}}
links: {{loopback: {{from: here, to: here}}}}
tests:
  - name: udp
    engine: udp
    order: random
    replications: {replications}
    set: {{duration: {duration}}}
    grid: {{datagram: [{datagrams}], sockbuf: [100KiB, 1MiB]}}
  - name: tcp
    engine: tcp
    order: random
    replications: {replications}
    set: {{duration: {duration}, congestion: reno}}
    grid: {{message: [{messages}], sockbuf: [100KiB, 1MiB]}}
"""
DATAGRAMS = ("1KiB", "1460", "4KiB", "16KiB", "32KiB")
MESSAGES = ("1KiB", "4KiB", "16KiB", "64KiB", "256KiB")


def railgauge(*arguments: str) -> subprocess.CompletedProcess[str]:
    completed = subprocess.run(
        [sys.executable, "-m", "railgauge", *arguments], capture_output=True, text=True
    )
    if completed.returncode > 1:
        sys.exit(completed.stderr)
    return completed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--no-confirm", action="store_true")
    parser.add_argument("--baseline-runs", type=int, default=3)
    parser.add_argument("--sizes", type=int, default=5, help="of datagrams and of messages")
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--duration", default="200ms", help="of each replication")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan, database = Path(folder, "plan.yaml"), str(Path(folder, "railgauge.db"))
        plan.write_text(
            PLAN.format(
                replications=arguments.replications,
                duration=arguments.duration,
                datagrams=", ".join(DATAGRAMS[: arguments.sizes]),
                messages=", ".join(MESSAGES[: arguments.sizes]),
            )
        )
        for _ in range(arguments.baseline_runs):
            railgauge("run", str(plan), "--db", database)
        runs = map(str, range(1, arguments.baseline_runs + 1))
        railgauge("baseline", "set", "itself", *runs, "--db", database)
        alarms = slower = judged = 0
        for number in range(1, arguments.comparisons + 1):
            command = ["gate", str(plan), "--db", database, "--json"]
            command += ["--no-confirm"] * arguments.no_confirm
            report = json.loads(railgauge(*command).stdout)
            verdicts = [result["verdict"] for result in report["results"]]
            unconfirmed = sum(result["unconfirmed"] for result in report["results"])
            alarms += "slower" in verdicts
            slower += verdicts.count("slower")
            judged += len(verdicts)
            print(
                f"{number:>3}: {len(verdicts)} results, {verdicts.count('slower')} slower, "
                f"{unconfirmed} not confirmed, {verdicts.count('faster')} faster",
                flush=True,
            )
    print(f"alarms: {alarms} of {arguments.comparisons} gates, {slower} of {judged} results")


if __name__ == "__main__":
    main()
