"""One row of `railgauge export csv`, from its fields back to what they stand for."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from railgauge.exchange.exporting.view_rows import COLUMNS
from railgauge.plan.cases import Case, Value, case_key

_STATES = ("ok", "failed", "suspect")
_INTEGER = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
_MOST = 2**31 - 1
_REAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z", re.ASCII)


class WrongCaseError(ValueError):
    """What is wrong with a case, and so with each of its rows."""


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A row; `started_at` in seconds since 1970. A failed replication has no metric, and NaN."""

    run: int
    plan: str
    git_commit: str
    started_at: float | None
    test: str
    case: Case
    replication: int
    metric: str | None
    value: float
    unit: str
    status: str


def parse(fields: Sequence[str]) -> CsvRow:
    """Return the row in these fields; ValueError says what is wrong with them."""
    if len(fields) != len(COLUMNS):
        raise ValueError(f"this row has {len(fields)} fields, the header has {len(COLUMNS)}")
    if any("\0" in field for field in fields):
        raise ValueError("there is a NUL character in this row, which no database keeps as it is")
    text = dict(zip(COLUMNS, (field.removeprefix("'") for field in fields), strict=True))
    status, metric = text["status"], text["metric"] or None
    if status not in _STATES:
        raise ValueError(f"the status {status!r} is none of {', '.join(_STATES)}")
    if (status == "failed") != (metric is None):
        raise ValueError("a failed replication has no metric, and any other has one")
    return CsvRow(
        run=_integer("run", text["run"]),
        plan=text["plan"],
        git_commit=text["git_commit"],
        started_at=_moment(text["started_at"]),
        test=text["test"],
        case=_case(
            *(text[name] for name in ("case_key", "engine", "link", "client_host")),
            text["server_host"],
            text["parameters"],
        ),
        replication=_integer("replication", text["replication"]),
        metric=metric,
        value=math.nan if metric is None else _number(text["value"]),
        unit=text["unit"],
        status=status,
    )


def _integer(name: str, text: str) -> int:
    if not _INTEGER.fullmatch(text) or int(text) > _MOST:
        raise ValueError(f"{name} is {text!r}, and no number from 1 on")
    return int(text)


def _number(text: str) -> float:
    # float() alone takes 1_000, spaces and the digits of other scripts, too.
    value = float(text) if _REAL.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"the value {text!r} is not a number")
    return value


@lru_cache(maxsize=64)
def _moment(text: str) -> float | None:
    if not text:
        return None
    try:
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text).astimezone(UTC).timestamp()
    except ValueError:
        pass
    raise ValueError(f"started_at is {text!r}, and not such as 2026-11-21T02:00:01.250000Z")


@lru_cache(maxsize=4096)
def _case(key: str, engine: str, link: str, client: str, server: str, parameters: str) -> Case:
    values = _parameters(parameters)
    case = Case(key, engine, link, client, server or None, values)
    if key != case_key(engine, link, client, case.server, values):
        raise WrongCaseError(
            f"case_key {key!r} is not that of this engine, link, hosts and parameters: if it is of "
            "a group's test, `railgauge db copy` copies it"
        )
    return case


def _parameters(text: str) -> Mapping[str, Value]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"parameters are no JSON: {error}") from error
    if not isinstance(values, dict) or any(
        not isinstance(value, str | int | float) or value != value for value in values.values()
    ):
        raise ValueError("parameters are not a JSON object of texts and numbers")
    return values
