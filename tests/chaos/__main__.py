"""Everyday disasters at random instants: nothing stored may be lost, changed, doubled or left.

    python -m tests.chaos [--minutes 60] [--quick] [--seed N] [--only NAME …] [--strike N]

Each strike has a folder, a chance and a number of its own: what is found is made again alone by
--seed, --only and --strike. Exit code 1 if anything was found.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.chaos import databases, inputs, interference, jobs, kills, remote
from tests.chaos.campaign import Campaign
from tests.chaos.measuring import become_subreaper
from tests.support import command_line

DISASTERS = (
    *kills.DISASTERS,
    *databases.DISASTERS,
    *inputs.DISASTERS,
    *interference.DISASTERS,
    *remote.DISASTERS,
    *jobs.DISASTERS,
)


def main() -> int:
    """Run a campaign, and print its table."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so many")
    parser.add_argument("--quick", action="store_true", help="few strikes of each kind")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    names = [disaster.name for disaster in DISASTERS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--strike", type=int, help="with --only: this one alone")
    parser.add_argument("--list", action="store_true", help="say what there is")
    options = parser.parse_args()
    if options.list:
        for disaster in DISASTERS:
            print(f"{disaster.name:20} {disaster.strikes:4}  {disaster.summary}")
        return 0
    become_subreaper()
    # The server that forks railgauge stays: it is nothing that a strike left.
    command_line.run([*command_line.COMMAND, "--version"], stdout=subprocess.DEVNULL, check=True)
    folder = Path(tempfile.mkdtemp(prefix="railgauge-chaos-"))
    campaign = Campaign(options.seed, folder, lambda line: print(line, flush=True))
    print(f"seed {options.seed}, in {folder}", flush=True)
    ready = []
    for disaster in DISASTERS:
        if disaster.name in options.only:
            if lacking := disaster.lacking():
                print(f"{disaster.name}: left out, for want of {lacking}", flush=True)
            else:
                ready.append(disaster)
    strikes = campaign.order(ready, quick=options.quick)
    if options.strike is not None:
        strikes = [(disaster, options.strike) for disaster in ready]
    campaign.run(strikes, seconds=options.minutes * 60)
    print(*campaign.table(), sep="\n")
    if campaign.is_clean:
        shutil.rmtree(folder)
    return 0 if campaign.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
