"""What came of an import, whatever it read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The run's id and how many of each were stored; 0 of what that format hasn't.

    Of a CSV file's `rows` `replications` held a value; `blanks` cells held none. `logs` are
    the system logs beside Hpcbench's files.
    """

    run: int
    cases: int
    replications: int
    files: int = 0
    rows: int = 0
    values: int = 0
    blanks: int = 0
    logs: int = 0
