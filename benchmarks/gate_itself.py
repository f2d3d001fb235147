"""How often a gate raises a false alarm: real runs of a plan held against its own baseline.

Twenty gates of one plan over this machine's loopback interface, whose baseline is three runs of
the same plan: nothing changed, so each case that is called slower is a false alarm. Wants an idle
machine; on a busy one what is disturbed by others is really slower.

    python benchmarks/gate_itself.py [--comparisons 20] [--no-confirm]
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
hosts: {here: {address: 127.0.0.1, transport: local}}
links: {loopback: {from: here, to: here}}
tests:
  - name: udp
    engine: udp
    order: random
    replications: 10
    set: {duration: 50ms}
    grid: {datagram: [1KiB, 1460, 4KiB, 16KiB, 32KiB], sockbuf: [100KiB, 1MiB]}
  - name: tcp
    engine: tcp
    order: random
    replications: 10
    set: {duration: 50ms, congestion: reno}
    grid: {message: [1KiB, 4KiB, 16KiB, 64KiB, 256KiB], sockbuf: [100KiB, 1MiB]}
"""
BASELINE_RUNS = 3


def railgauge(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "railgauge", *arguments], capture_output=True, text=True
    )
    if done.returncode > 1:
        sys.exit(done.stderr)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--no-confirm", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan, database = Path(folder, "plan.yaml"), str(Path(folder, "railgauge.db"))
        plan.write_text(PLAN)
        for _ in range(BASELINE_RUNS):
            railgauge("run", str(plan), "--db", database)
        runs = map(str, range(1, BASELINE_RUNS + 1))
        railgauge("baseline", "set", "itself", *runs, "--db", database)
        alarms = slower = judged = 0
        for number in range(1, arguments.comparisons + 1):
            command = ["gate", str(plan), "--db", database, "--json"]
            command += ["--no-confirm"] * arguments.no_confirm
            found = json.loads(railgauge(*command).stdout)
            verdicts = [each["verdict"] for each in found["results"]]
            unconfirmed = sum(each["unconfirmed"] for each in found["results"])
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
