"""What a launch measured goes into the tables: its replications and their values, many at once."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, select

from railgauge.base.errors import StoreError
from railgauge.store.checksums import alone, checksum
from railgauge.store.models import Base, LaunchRow, Measurement, PublishedValueRow, Replication
from railgauge.store.records import Launch, Outcome
from railgauge.store.write import (
    OpenRun,
    chunks,
    insert_rows,
    insert_with_ids,
    iso,
    json_text,
    plain_text,
    plain_texts,
)

# Between the settings of a launch: blanks would be a tenth of their bytes.
_DENSE = (",", ":")


def insert_launch(connection: Connection, run_case_id: int, launch: Launch) -> int:
    """Store the launch and return its id."""
    row = {
        "run_case_id": run_case_id,
        "started_at": iso(launch.started_at),
        "client": json_text(plain_texts(launch.client), _DENSE),
        "server": json_text(plain_texts(launch.server), _DENSE),
        "warnings": plain_text(json.dumps(launch.warnings, ensure_ascii=False)),
    }
    (launch_id,) = insert_with_ids(connection, Base.metadata.tables[LaunchRow.__tablename__], [row])
    return launch_id


def run_case(run: OpenRun, test: str, case_key: str) -> tuple[int, str]:
    """Return the id of the test's case in this run, and its engine."""
    try:
        return run.cases[test, case_key]
    except KeyError:
        raise StoreError(f"run {run.id} has no case {case_key} in a test {test!r}") from None


def insert_outcomes(
    connection: Connection,
    run: OpenRun,
    outcomes: Iterable[tuple[str, str, Outcome]],
    launch_id: int | None,
) -> list[tuple[int, int]]:
    """Store replications (test, case key, outcome) and their values.

    Returns the key of each: the id of its case in the run, and its number, negative for a warm-up.
    StoreError when one contradicts itself.
    """
    return [
        key
        for chunk in chunks(outcomes)
        for key in _insert_chunk(connection, run, chunk, launch_id)
    ]


def are_stored(connection: Connection, keys: Sequence[tuple[int, int]]) -> bool:
    """Return whether the first of the replications (run case, number) is there."""
    if not keys:
        return False
    run_case_id, number = keys[0]
    query = select(Replication.number).where(
        Replication.run_case_id == run_case_id, Replication.number == number
    )
    return connection.execute(query).first() is not None


def _insert_chunk(
    connection: Connection,
    run: OpenRun,
    outcomes: Sequence[tuple[str, str, Outcome]],
    launch_id: int | None,
) -> list[tuple[int, int]]:
    warmups = {run_case(run, test, key)[0] for test, key, outcome in outcomes if outcome.warmup}
    lowest = _lowest_numbers(connection, warmups)
    keys: list[tuple[int, int]] = []
    replications: list[dict[str, object]] = []
    values: list[dict[str, object]] = []
    published: list[dict[str, object]] = []
    for test, case_key, outcome in outcomes:
        run_case_id, engine = run_case(run, test, case_key)
        number = _number(run_case_id, outcome, lowest)
        keys.append((run_case_id, number))
        metrics = run.metrics.get(engine, {})
        _check(outcome, engine, metrics)
        head = {"run_case_id": run_case_id, "number": number}
        replications.append(
            {**head, "launch_id": launch_id, **_replication(number, outcome, metrics)}
        )
        values += [
            {**head, "metric_id": metrics[name][0], "value": float(value)}
            for name, value in outcome.metrics.items()
        ]
        published += _published(metrics, run_case_id, number, outcome)
    insert_rows(connection, Replication, replications)
    insert_rows(connection, Measurement, values)
    insert_rows(connection, PublishedValueRow, published)
    return keys


def _replication(
    number: int, outcome: Outcome, metrics: Mapping[str, tuple[int, str]]
) -> dict[str, object]:
    """Return what a replication's row says of how it ended."""
    started_at = None if outcome.started_at is None else iso(outcome.started_at)
    error_code = plain_text(outcome.error_code) or None
    error_message = plain_text(outcome.error_message) or None
    named = ((name, metrics[name][1], value) for name, value in outcome.metrics.items())
    return {
        "status": outcome.status,
        "started_at": started_at,
        "error_code": error_code,
        "error_message": error_message,
        "checksum": alone(
            checksum(number, outcome.status, started_at, (error_code, error_message), named)
        ),
    }


def _published(
    metrics: Mapping[str, tuple[int, str]], run_case_id: int, number: int, outcome: Outcome
) -> list[dict[str, object]]:
    """Return the rows of what the source of an imported outcome says of its values."""
    return [
        {
            "run_case_id": run_case_id,
            "number": number,
            "metric_id": metrics[name][0],
            "replications": value.replications,
            "stdev": value.stdev,
            "minimum": value.minimum,
            "maximum": value.maximum,
            "absence": value.absence,
        }
        for name, value in outcome.published.items()
    ]


def _lowest_numbers(connection: Connection, run_cases: Iterable[int]) -> dict[int, int]:
    """Return the number of the last warm-up of each of these run cases that has had one."""
    if not run_cases:
        return {}
    query = (
        select(Replication.run_case_id, func.min(Replication.number))
        .where(Replication.run_case_id.in_(run_cases), Replication.number < 0)
        .group_by(Replication.run_case_id)
    )
    return dict(connection.execute(query).all())


def _number(run_case_id: int, outcome: Outcome, lowest: dict[int, int]) -> int:
    if outcome.warmup:
        lowest[run_case_id] = lowest.get(run_case_id, 0) - 1
        return lowest[run_case_id]
    if outcome.replication < 1:
        raise StoreError(f"a replication's number is 1 or more, not {outcome.replication}")
    return outcome.replication


def _check(outcome: Outcome, engine: str, metrics: Collection[str]) -> None:
    if (outcome.status == "failed") == bool(outcome.metrics):
        raise StoreError(
            "a failed replication has no metrics and any other has some; "
            f"replication {outcome.replication} is {outcome.status} with {len(outcome.metrics)}"
        )
    if (outcome.status == "suspect") != bool(outcome.suspicions) and outcome.status != "failed":
        raise StoreError(
            "a suspect replication has reasons and an ok one has none; "
            f"replication {outcome.replication} is {outcome.status} with "
            f"{len(outcome.suspicions)}"
        )
    for name, value in outcome.metrics.items():
        if name not in metrics:
            raise StoreError(f"engine {engine} gave a metric it had not described: {name!r}")
        if not math.isfinite(value):
            raise StoreError(f"engine {engine} gave {value} as its {name}: that is no measurement")
