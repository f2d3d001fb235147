"""What runs that stand beside one another are called: by what they differ in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class NamedRun:
    """What may distinguish a run: its labels, its hosts' facts, its plan's commit, its date.

    `facts` by host; `started_at` is ISO 8601, UTC.
    """

    id: int
    plan: str = ""
    commit: str = ""
    started_at: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def run_names(runs: Sequence[NamedRun]) -> dict[int, str]:
    """Return a name for each run, by id: no two have one.

    The first of these in which they differ and which all have, and as many of them as it takes:
    labels, kernel, driver and MTU of the network cards, commit of the plan, day, moment. A run
    alone is called measured.
    """
    if len(runs) == 1:
        return {runs[0].id: "measured"}
    parts: dict[int, list[str]] = {run.id: [] for run in runs}
    for describe in _descriptions(runs):
        if len({tuple(words) for words in parts.values()}) == len(runs):
            break
        texts = {run.id: describe(run) for run in runs}
        if len(set(texts.values())) > 1 and all(texts.values()):
            for run_id, text in texts.items():
                parts[run_id].append(text)
    return _distinct({run_id: ", ".join(words) for run_id, words in parts.items()})


def _descriptions(runs: Sequence[NamedRun]) -> list[Callable[[NamedRun], str]]:
    """Return what says something of a run, the plainest first."""
    keys = dict.fromkeys(key for run in runs for key in run.labels)
    return [
        *(lambda run, key=key: _label(run, key) for key in keys),
        lambda run: _fact(run, "kernel", r"kernel"),
        lambda run: _fact(run, "driver", r"nic\.[^.]+\.driver"),
        lambda run: _fact(run, "MTU", r"nic\.[^.]+\.mtu"),
        lambda run: f"commit {run.commit[:_DIGITS]}" if run.commit else "",
        lambda run: run.started_at[:10],
        lambda run: run.started_at[:19].replace("T", " "),
    ]


def _label(run: NamedRun, key: str) -> str:
    return f"{key} {run.labels[key]}" if key in run.labels else ""


def _fact(run: NamedRun, word: str, pattern: str) -> str:
    """Return what all hosts have of a fact, in short."""
    values: dict[str, None] = {}
    for facts in run.facts.values():
        for name in sorted(facts):
            if re.fullmatch(pattern, name):
                values[_short(facts[name])] = None
    return f"{word} {' and '.join(values)}" if values else ""


def _short(text: str) -> str:
    """Return a kernel's release of the whole line that /proc/version has."""
    match = re.match(r"Linux (?:version )?(\S+)", text)
    return match[1] if match else text[:40]


def _distinct(names: Mapping[int, str]) -> dict[int, str]:
    texts = list(names.values())
    return {
        run_id: text if text and texts.count(text) == 1 else f"{text}, run {run_id}".lstrip(", ")
        for run_id, text in names.items()
    }
