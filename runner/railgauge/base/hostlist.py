"""Hostlists as Slurm and pdsh write them: `n[1-3,7]` stands for n1, n2, n3 and n7.

A list keeps the order it is written in, as the addresses of its hosts are a list beside it.
ClusterShell sorts, and python-hostlist's licence is not ours.
"""

from __future__ import annotations

import re
from itertools import product

# More in one list is rather a slip than a cluster.
MOST = 100_000

# An IPv6 address stands in brackets, too: [fd00::1]:22.
_BRACKET = re.compile(r"\[(?![0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\])")
_PARTS = re.compile(r"\[([^\[\]]*)\]")
_ITEMS = re.compile(r",(?![^\[]*\])")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)


def is_hostlist(text: str) -> bool:
    """Return whether the text is meant as a hostlist: has a bracket without an address in it."""
    return _BRACKET.search(text) is not None


def expand_hostlist(text: str) -> list[str]:
    """Return the names that `text` stands for, in its order; ValueError where it is no hostlist."""
    names: list[str] = []
    for item in _ITEMS.split(text):
        literal_then_ranges = _PARTS.split(item)
        literals, ranges = literal_then_ranges[::2], literal_then_ranges[1::2]
        if not item or any("[" in literal or "]" in literal for literal in literals):
            raise ValueError(f"{text[:80]!r} is no hostlist: write such as n[1-4,7]")
        numbers = [_numbers(inside, text) for inside in ranges]
        count = len(names) + 1
        for choices in numbers:
            count *= len(choices)
        _bound(count, text)
        names += [
            "".join(map("".join, zip(literals, (*choice, ""), strict=True)))
            for choice in product(*numbers)
        ]
    return names


def _numbers(inside: str, text: str) -> list[str]:
    """Return the numbers of a bracket's `1-3,07`, with the zeros before the first of a range."""
    numbers: list[str] = []
    for part in inside.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (match[1], match[2] or match[1]) if match else ("1", "0")
        if int(last) < int(first) or (last.startswith("0") and len(first) != len(last)):
            raise ValueError(
                f"{part[:40]!r} is no range of the hostlist {text[:80]!r}: write such as n[1-4,7] "
                "or n[01-12]"
            )
        _bound(len(numbers) + int(last) - int(first), text)
        width = len(first) if first.startswith("0") else 0
        numbers += [f"{number:0{width}}" for number in range(int(first), int(last) + 1)]
    return numbers


def _bound(count: int, text: str) -> None:
    if count > MOST:
        raise ValueError(f"the hostlist {text[:80]!r} has more than {MOST:,} names: name fewer")
