"""Rows of the view as Parquet, with a type for each column. pyarrow is imported only here."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from railgauge.base.errors import InputError, StoreError
from railgauge.exchange.exporting.view_rows import INTEGERS, REALS, PublicView, Row

# Rows of a row group: a reader that wants one run skips the others' groups, as each says which
# runs it holds. Larger ones would be kept in memory whole, smaller ones (a run's few rows) cost
# more than they save.
_MOST = 100_000
_FEWEST = 10_000
_NULLABLE = frozenset({"started_at", "server_host", "metric", "value", "unit", "text", "host"})


def write_parquet(out: BinaryIO, stretches: Iterable[Sequence[Row]], view: PublicView) -> int:
    """Write the rows as Parquet and return how many.

    INTEGERS are 64-bit integers, REALS doubles, `started_at` a moment in UTC with microseconds,
    all else text (`parameters`: JSON). A row group holds the rows
    of one run, or of several small ones, and at most some 100,000. InputError without pyarrow.
    """
    arrow = _pyarrow()
    types = {
        **dict.fromkeys(INTEGERS, arrow.int64()),
        **dict.fromkeys(REALS, arrow.float64()),
        "started_at": arrow.timestamp("us", tz="UTC"),
    }
    schema = arrow.schema(
        [
            arrow.field(name, types.get(name, arrow.string()), nullable=name in _NULLABLE)
            for name in view.columns
        ]
    )
    count, last, waiting = 0, None, _Group(arrow, schema)
    with importlib.import_module("pyarrow.parquet").ParquetWriter(out, schema) as writer:
        for rows in stretches:
            run = rows[0][0]
            if waiting.rows >= (_FEWEST if run != last else _MOST):
                writer.write_table(waiting.table())
            waiting.add(rows)
            last = run
            count += len(rows)
        if waiting.rows:
            writer.write_table(waiting.table())
    return count


class _Group:
    """Rows that will be a row group."""

    def __init__(self, arrow: Any, schema: Any) -> None:
        self._arrow, self._schema = arrow, schema
        self._batches: list[Any] = []
        self.rows = 0

    def add(self, rows: Sequence[Row]) -> None:
        try:
            arrays = [
                self._array(field, column)
                for field, column in zip(self._schema, zip(*rows, strict=True), strict=True)
            ]
        except self._arrow.ArrowException as error:
            raise StoreError(f"the database holds what Parquet can't: {error}") from error
        self._batches.append(self._arrow.record_batch(arrays, schema=self._schema))
        self.rows += len(rows)

    def table(self) -> Any:
        """Return what was added, and begin anew."""
        table = self._arrow.Table.from_batches(self._batches, self._schema)
        self._batches, self.rows = [], 0
        return table

    def _array(self, field: Any, column: Sequence[Any]) -> Any:
        if self._arrow.types.is_timestamp(field.type):
            return self._arrow.array(column, self._arrow.string()).cast(field.type)
        return self._arrow.array(column, field.type)


def _pyarrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise InputError("Parquet needs pyarrow: pip install 'railgauge[parquet]'") from error
