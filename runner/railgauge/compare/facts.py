"""Which of the facts and settings behind two runs changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from railgauge.store.records import RunConditions

Facts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class FactChange:
    """A setting or fact with its values before and after; None where it wasn't there."""

    name: str
    values: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class HostChanges:
    """A host that both runs have, and in what it is not what it was."""

    host: str
    changes: tuple[FactChange, ...]


def host_changes(before: Facts, after: Facts) -> tuple[HostChanges, ...]:
    """Return the hosts that are in both, by name, and aren't what they were."""
    names = sorted(before.keys() & after.keys())
    hosts = (HostChanges(name, changes(before[name], after[name])) for name in names)
    return tuple(host for host in hosts if host.changes)


def hosts_by_change(hosts: Iterable[HostChanges]) -> dict[FactChange, list[str]]:
    """Return each change once, with the hosts that it is of."""
    by_change: dict[FactChange, list[str]] = {}
    for host in hosts:
        for change in host.changes:
            by_change.setdefault(change, []).append(host.host)
    return by_change


def setting_changes(before: RunConditions, after: RunConditions) -> tuple[FactChange, ...]:
    """Return in what that made the runs they differ: the plan, its files, the commit …"""
    return changes(_settings(before), _settings(after))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FactChange, ...]:
    """Return what isn't the same in both, in the order of the first."""
    names = dict.fromkeys([*before, *after])
    return tuple(
        FactChange(name, (before.get(name), after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    )


def _settings(run: RunConditions) -> dict[str, str]:
    """Return what made the run, as texts; long ones stand for themselves by name."""
    new = run.new
    texts = {
        "plan": new.plan,
        "plan_text": new.plan_text,
        "git_commit": new.git_commit,
        "git_dirty": "uncommitted changes" if new.git_dirty else "clean" if new.git_commit else "",
        "engines_hash": new.engines_hash,
        "railgauge_version": new.railgauge_version,
        "controller": new.controller,
        "origin": new.origin,
        "state": run.state,
    }
    texts |= {f"file {name}": text for name, text in new.files.items()}
    return {name: text for name, text in texts.items() if text}
