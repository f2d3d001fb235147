"""What one check of a host is: a script to run there, and functions that understand its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from railgauge.lab.doctor.needs import Needs

Facts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Check:
    """`script` is POSIX sh that prints lines; `read` makes facts (name -> value) of them.

    In the script, `$prefix` is the folder of the hosts' MPI, if they name one. `judge` returns a
    sentence for each problem: what it is, and what to do.
    """

    script: str
    read: Callable[[Sequence[str]], dict[str, str]]
    judge: Callable[[Facts, Needs], Iterable[str]]


def fields(lines: Sequence[str]) -> dict[str, str]:
    """Return the facts in lines of a name, a blank and a value; those without a value are none."""
    pairs = (line.partition(" ") for line in lines)
    return {name: value.strip() for name, _, value in pairs if value.strip()}
