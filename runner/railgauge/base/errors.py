"""The one tree of errors. Third-party exceptions become one of these at the edge where they arise.

Only the command line prints them and picks the exit code: 1 measured but fell short,
2 the user's input is wrong, 3 the environment failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType


class RailgaugeError(Exception):
    """Base of what railgauge raises on purpose: a sentence with what, where and what to do."""

    exit_code = 3


class InputError(RailgaugeError):
    """What the user wrote is wrong; nothing was started."""

    exit_code = 2


class NoDatabaseError(InputError):
    """There is no database where one is named, or nothing in it yet."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in a file: where it stands (counted from 1) and what to write instead."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        """Return the line that compilers and editors understand."""
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class FileProblems(InputError):  # noqa: N818 - it holds problems, any number of them
    """All the mistakes of a plan, hosts file, report definition or engine description at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class EnvironmentFailedError(RailgaugeError):
    """Something outside railgauge failed: a host, a compiler, a disk."""


class HostUnreachableError(EnvironmentFailedError):
    """A host could not be reached, refused us or was lost; `host` is its name where it is known.

    Of several machines that something was done with, `reasons` says why each was lost.
    """

    host = ""
    reasons: Mapping[str, str] = MappingProxyType({})


class HostBusyError(EnvironmentFailedError):
    """Another run has a host that this one needs; the message says which, and since when."""


class HostKeyError(HostUnreachableError):
    """A host's SSH key is unknown or differs from the known one."""


class BuildError(EnvironmentFailedError):
    """The engines could not be built on a host."""


class EngineError(EnvironmentFailedError):
    """An engine failed or broke its contract while measuring.

    `code` is stable: one of the engine's own (`connection-refused`, `timeout`, ...) or
    the runner's (`engine-lost`, `contract`, `inconsistent`, `no-answer`).
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class TraceError(EngineError):
    """A per-packet trace's bytes are not a trace; the code is `contract`."""

    def __init__(self, message: str) -> None:
        super().__init__("contract", message)


class EquipmentError(EnvironmentFailedError):
    """A switch's or router's counters can't be read; a measurement goes on without."""


class StoreError(EnvironmentFailedError):
    """The database could not be opened, read or written."""


class LostDatabaseError(StoreError):
    """The database isn't there any more, and what was stored in it may not be either."""


class InterruptedRunError(RailgaugeError):
    """The user stopped a run; what was measured is stored."""

    exit_code = 130
