"""What hosts of very different kinds answered, kept in tests/fixtures/facts."""

from __future__ import annotations

from pathlib import Path

from railgauge.hosts.facts import SOURCES
from railgauge.hosts.facts.asking import split

_ANSWERS = Path(__file__).parents[1] / "fixtures" / "facts"


def facts_of(name: str) -> dict[str, str]:
    files = split((_ANSWERS / f"{name}.txt").read_text().splitlines())
    facts: dict[str, str] = {}
    for source in SOURCES:
        facts |= source.parse(files)
    return facts
