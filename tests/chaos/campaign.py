"""What a campaign strikes with, and what it counts."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

Lab = TypeVar("Lab")
# What none may happen of, in the table's order.
KINDS = (
    "lost",  # a stored replication that is gone
    "changed",  # one whose values are others
    "doubled",  # one that stands twice, or more than the plan asks for
    "left behind",  # a process or a file
    "internal error",  # a traceback, or the word of one
    "wrong result",  # what isn't so, with exit code 0
    "late",  # what took longer than its limit
    "refused",  # an honest client that wasn't served
)


class Finding(NamedTuple):
    """What should not have happened: one of KINDS, and a sentence."""

    kind: str
    sentence: str


@dataclass
class Place:
    """Where a strike happens: a folder of its own, its own chance, and labs that strikes share."""

    folder: Path
    chance: random.Random
    labs: dict[str, object]
    closing: ExitStack

    def lab(self, name: str, make: Callable[[ExitStack], Lab]) -> Lab:
        """Return what `make` gave for the first strike that asked for this name."""
        if name not in self.labs:
            self.labs[name] = make(self.closing)
        return self.labs[name]  # type: ignore[return-value]


class Disaster(NamedTuple):
    """A kind of strike: `strike` returns what should not have happened.

    `strikes` is how often a whole campaign strikes, `quick` how often a quick one does. `lacking`
    says what this machine has not that it needs.
    """

    name: str
    summary: str
    strike: Callable[[Place], Sequence[Finding]]
    strikes: int
    quick: int
    lacking: Callable[[], str] = str


@dataclass
class Score:
    """What came of one disaster's strikes."""

    strikes: int = 0
    seconds: float = 0.0
    findings: Counter[str] = field(default_factory=Counter)


@dataclass
class Campaign:
    """All strikes of a seed; each can be made again alone, by its disaster's name and number."""

    seed: int
    folder: Path
    say: Callable[[str], None]
    scores: dict[str, Score] = field(default_factory=dict)

    def order(self, disasters: Iterable[Disaster], *, quick: bool) -> list[tuple[Disaster, int]]:
        """Return the strikes of a campaign, shuffled, so that any part of it holds all kinds."""
        strikes = [
            (disaster, number)
            for disaster in disasters
            for number in range(1, (disaster.quick if quick else disaster.strikes) + 1)
        ]
        random.Random(self.seed).shuffle(strikes)
        return strikes

    def run(self, strikes: Sequence[tuple[Disaster, int]], *, seconds: float) -> None:
        """Strike until all are done, or so many seconds are over."""
        end = time.monotonic() + seconds
        labs: dict[str, object] = {}
        with ExitStack() as closing:
            for disaster, number in strikes:
                if time.monotonic() >= end:
                    break
                self._strike(disaster, number, labs, closing)

    def _strike(
        self, disaster: Disaster, number: int, labs: dict[str, object], closing: ExitStack
    ) -> None:
        folder = self.folder / f"{disaster.name}-{number}"
        folder.mkdir()
        chance = random.Random(f"{self.seed}/{disaster.name}/{number}")
        began = time.monotonic()
        try:
            findings = disaster.strike(Place(folder, chance, labs, closing))
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            findings = [Finding("internal error", f"of the campaign itself: {error!r}")]
        score = self.scores.setdefault(disaster.name, Score())
        score.strikes += 1
        score.seconds += time.monotonic() - began
        for finding in findings:
            assert finding.kind in KINDS, finding
            score.findings[finding.kind] += 1
            again = f"--seed {self.seed} --only {disaster.name} --strike {number}"
            self.say(f"{finding.kind}: {finding.sentence} ({again}; {folder})")

    def table(self) -> list[str]:
        """Return a line a disaster: how often it struck, and what it did; each goal is 0."""
        width = max(map(len, self.scores), default=0)
        heads = "".join(f"{kind:>16}" for kind in KINDS)
        lines = [f"{'':{width}}{'strikes':>9}{'seconds':>9}{heads}"]
        for name, score in sorted(self.scores.items()):
            counts = "".join(f"{score.findings[kind]:16}" for kind in KINDS)
            lines.append(f"{name:{width}}{score.strikes:9}{score.seconds:9.0f}{counts}")
        total = sum((score.findings for score in self.scores.values()), Counter[str]())
        strikes = sum(score.strikes for score in self.scores.values())
        seconds = sum(score.seconds for score in self.scores.values())
        counts = "".join(f"{total[kind]:16}" for kind in KINDS)
        lines.append(f"{'all':{width}}{strikes:9}{seconds:9.0f}{counts}")
        lines.append(f"{'goal':{width}}{'':18}{''.join(f'{0:16}' for _ in KINDS)}")
        return lines

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not any(score.findings for score in self.scores.values())
