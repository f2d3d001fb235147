"""Hostlists in a plan or hosts file: `n[1-4]` under `hosts` is four hosts, written out here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from railgauge.base.hostlist import expand_hostlist, is_hostlist
from railgauge.plan.yamlfile import Document, Mistake

# What distinguishes hosts, so that a list of hosts has a list there.
_OWN = {"address", "ssh", "netns", "node", "networks"}


def write_out(document: Document) -> Document:
    """Return the document with a host for each name of its hostlists.

    The hostlists in an entry go along name by name: `n[1-4]: {address: 10.0.0.[1-4]}` gives n3 the
    address 10.0.0.3. An entry that is unsound is left out, and a mistake of the document.
    """
    data = document.data
    hosts = data.get("hosts") if isinstance(data, dict) else None
    if not isinstance(hosts, dict) or not any(map(is_hostlist, hosts)):
        return document
    entries: dict[str, tuple[str, Any]] = {}
    mistakes: list[Mistake] = []
    for written, entry in hosts.items():
        loc: tuple[str | int, ...] = ("hosts", written)
        try:
            names = expand_hostlist(written) if is_hostlist(written) else [written]
            if twice := _twice([*entries, *names]):
                raise ValueError(f"host {twice!r} is here twice: keep one of the two")
            values = _values(entry, len(names), loc) if is_hostlist(written) else [entry]
        except ValueError as error:
            loc = getattr(error, "loc", loc)
            problem = document.problem(loc, str(error), key=len(loc) == 2)
            mistakes.append(Mistake(("hosts", written), problem))
            continue
        entries.update(zip(names, ((written, value) for value in values), strict=True))
    return document.with_entries("hosts", entries, mistakes)


def _twice(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


class _WrongError(ValueError):
    def __init__(self, loc: tuple[str | int, ...], message: str) -> None:
        self.loc = loc
        super().__init__(message)


def _values(value: Any, count: int, loc: tuple[str | int, ...]) -> Sequence[Any]:
    """Return what each of `count` hosts has of a value that is written for all."""
    if isinstance(value, dict):
        inner = {key: _values(part, count, (*loc, key)) for key, part in value.items()}
        return [{key: parts[index] for key, parts in inner.items()} for index in range(count)]
    if not isinstance(value, str) or not _OWN.intersection(loc[2:]):
        return [value] * count
    if not is_hostlist(value):
        if count == 1:
            return [value]
        raise _WrongError(loc, f"{value!r} is the same for {count} hosts: write a hostlist")
    try:
        texts = expand_hostlist(value)
    except ValueError as error:
        raise _WrongError(loc, str(error)) from error
    if len(texts) != count:
        raise _WrongError(loc, f"{value!r} has {len(texts)} names, but the hosts here are {count}")
    return texts
