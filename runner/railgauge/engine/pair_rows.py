"""Puts the rows of a replication that measured all pairs of a group together, and checks them."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.base.errors import EngineError
from railgauge.engine.events import PairRow, Replicated
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo

Pairs = Mapping[tuple[str, str], Mapping[str, float]]


class PairRows:
    """The rows of the replication under way: each rank's, once, before the replication's event."""

    def __init__(self, engine: EngineInfo, case: Case) -> None:
        self._engine = engine
        self._mode = case.parameters.get("mode")
        self._members = case.members
        self._expected = self._mode in engine.pair_modes
        self._rows: dict[int, PairRow] = {}

    def add(self, row: PairRow) -> None:
        """Take a row; EngineError `contract` where none is due or it isn't whole."""
        ranks = len(self._members)
        if not self._expected or row.source >= ranks or row.source in self._rows:
            raise self._broken(f"a row of rank {row.source} that was not due")
        for name, values in row.metrics.items():
            if len(values) != ranks or [rank for rank in range(ranks) if values[rank] is None] != [
                row.source
            ]:
                raise self._broken(f"rank {row.source}'s {name} without a number for each other")
        self._rows[row.source] = row

    def take(self, event: Replicated) -> Pairs | None:
        """Return the metrics of each pair by client and server; None where pairs aren't measured.

        Raises EngineError `contract` when rows are missing or belong to another replication.
        """
        if not self._expected:
            return None
        rows, self._rows = self._rows, {}
        whole = {row.replication for row in rows.values()} == {event.number}
        if len(rows) != len(self._members) or not whole:
            raise self._broken(f"replication {event.number} without a row of each rank")
        return {
            (source, target): self._metrics(rows[rank], other)
            for rank, source in enumerate(self._members)
            for other, target in enumerate(self._members)
            if other != rank
        }

    def _metrics(self, row: PairRow, other: int) -> dict[str, float]:
        # None stands only where the rank itself is: `add` saw to that.
        numbers = {
            name: value
            for name, values in row.metrics.items()
            if (value := values[other]) is not None
        }
        return self._engine.read_metrics(numbers, "", self._mode)

    def _broken(self, problem: str) -> EngineError:
        return EngineError("contract", f"engine {self._engine.name} reported {problem}")
