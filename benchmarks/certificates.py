"""How often each truth of `railgauge calibrate` can be certified here, and is it ever wrong?

Whole certificates of this machine, made by root and by an ordinary user by turns, and as often
`--self-test`, whose broken instruments each have to be wrong. Wants an idle machine, and root. Both
times tens of minutes: three minutes a certificate, four a self-test. Ctrl-C ends it with the
table of what there is by then.

    python -m benchmarks.certificates [--times 10] [--self-tests N] [--only WORD]...

The exit code is 1 if a right instrument was wrong, a broken one certified, or a command failed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import sshlab
from tests.support.ordinary_user import allowed, become, shared_cache

from benchmarks.machine import need
from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS

# More than a certificate or a self-test takes on a busy machine.
LONGEST = 1800.0
CONCLUSIONS = ("certified", "not certifiable here", "wrong")
ROW = "{:<30} {:<5} {:>9} {:>7} {:>5} {:>7} {:>6}  {}"


@dataclass(slots=True)
class Tally:
    """What became of a check: conclusions by how often, of the right instrument and broken ones."""

    right: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Maker:
    """Who makes certificates: how its command lines begin, and what came of them by check."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    folder: Path
    tallies: dict[str, Tally] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def run(self, kind: str, *arguments: str) -> str:
        """Return what `railgauge calibrate` printed, "" if it failed."""
        began = time.monotonic()
        try:
            completed = subprocess.run(
                [*self.command, "calibrate", *arguments],
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            self.failures.append(f"{kind}: not over after {LONGEST:.0f} s")
            return ""
        if completed.returncode > 1 or not completed.stdout:
            self.failures.append(f"{kind}: {completed.stderr.strip()}")
            return ""
        self.seconds.setdefault(kind, []).append(time.monotonic() - began)
        return completed.stdout

    def certify(self, only: Sequence[str]) -> Counter[str]:
        """Make a certificate; return how many checks came to what."""
        database = str(self.folder / "certificates.db")
        text = self.run("certificate", "--json", "--db", database, *only)
        conclusions: Counter[str] = Counter()
        for check in json.loads(text)["checks"] if text else []:
            tally = self.tallies.setdefault(check["name"], Tally())
            tally.right[check["conclusion"]] += 1
            conclusions[check["conclusion"]] += 1
            if check["conclusion"] != "certified":
                tally.reasons[check["explanation"]] += 1
        return conclusions

    def break_instruments(self, only: Sequence[str]) -> Counter[str]:
        """Run the self-test; return how many broken instruments came to what."""
        lines = self.run("self-test", "--self-test", *only).splitlines()
        checks = {f"{broken.name}:": broken.check for broken in BROKEN_INSTRUMENTS}
        conclusions: Counter[str] = Counter()
        for line, next_line in itertools.pairwise(lines):
            if line not in checks:
                continue
            conclusion = next(word for word in CONCLUSIONS if next_line.endswith(word))
            self.tallies.setdefault(checks[line], Tally()).broken[conclusion] += 1
            conclusions[conclusion] += 1
        return conclusions


def print_table(makers: Sequence[Maker]) -> int:
    """Print what became of each check; return the exit code."""
    head = ("check", "by", "certified", "not", "wrong", "caught", "missed", "mostly not, as")
    print(ROW.format(*head))
    faults = sum(len(maker.failures) for maker in makers)
    for name in dict.fromkeys(name for maker in makers for name in maker.tallies):
        for maker in makers:
            tally = maker.tallies.get(name, Tally())
            certified, unknown, wrong = (tally.right[word] for word in CONCLUSIONS)
            missed, _, caught = (tally.broken[word] for word in CONCLUSIONS)
            faults += wrong + missed
            checks, tests = tally.right.total(), tally.broken.total()
            shares = (f"{certified}/{checks}", unknown, wrong, f"{caught}/{tests}", missed)
            reason = next((reason for reason, _ in tally.reasons.most_common(1)), "")
            print(ROW.format(name, maker.name, *shares, reason).rstrip())
    for maker in makers:
        for kind, seconds in maker.seconds.items():
            print(
                f"{maker.name}: {len(seconds)} × {kind}, median {statistics.median(seconds):.0f} s,"
                f" longest {max(seconds):.0f} s"
            )
        for failure in maker.failures:
            print(f"{maker.name}: failed: {failure}")
    return int(faults > 0)


@contextlib.contextmanager
def all_makers() -> Iterator[list[Maker]]:
    """Give root, and an ordinary user where the kernel lets one make namespaces."""
    railgauge = (sys.executable, "-m", "railgauge")
    user = 200_000 + os.getpid()
    with tempfile.TemporaryDirectory(prefix="railgauge-bench-") as name, shared_cache() as cache:
        folder = Path(name)
        folder.chmod(0o755)
        for subfolder in ("root", "user", "saved"):
            (folder / subfolder).mkdir()
        shutil.chown(folder / "user", user, user)
        makers = [Maker("root", railgauge, {}, folder / "root")]
        if allowed(user):
            command = (*become(user, folder / "saved"), *railgauge)
            home = {"HOME": str(folder / "user"), "XDG_CACHE_HOME": cache}
            home |= {"XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": ""}
            makers.append(Maker("user", command, home, folder / "user"))
        else:
            print("no ordinary user: the kernel gives users no namespaces of their own")
        yield makers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10, help="certificates of each")
    parser.add_argument("--self-tests", type=int, help="of each; as many as certificates")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    options = parser.parse_args()
    lacking = sshlab.missing()
    need(not lacking, lacking)
    only = [f"--only={word}" for word in options.only]
    tests = options.times if options.self_tests is None else options.self_tests
    with all_makers() as makers:
        with contextlib.suppress(KeyboardInterrupt):
            for number in range(1, max(options.times, tests) + 1):
                for maker in makers:
                    for kind, times, make in (
                        ("certificate", options.times, maker.certify),
                        ("self-test", tests, maker.break_instruments),
                    ):
                        if number > times:
                            continue
                        began = time.monotonic()
                        counts = make(only)
                        summary = ", ".join(f"{counts[word]} {word}" for word in CONCLUSIONS)
                        took = time.monotonic() - began
                        print(f"{maker.name}: {kind} {number} of {times}: {summary}; {took:.0f} s")
                        sys.stdout.flush()
        return print_table(makers)


if __name__ == "__main__":
    sys.exit(main())
