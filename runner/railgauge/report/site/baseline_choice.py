"""What each run is compared with: its plan's baseline or, without one, the run before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from railgauge.compare.select import Selection, titled
from railgauge.store.heads import RunHead
from railgauge.store.records import Baseline


class Against:
    """Chooses for each of `heads`, oldest first, what it is compared with.

    `named` is the requested baseline, of the plan that its runs are of; other plans have the
    one with their name, if there is one. A run of the baseline itself is compared with the run
    before it. `measured` are the runs with a value, which alone count.

    `newest` are the last runs of each plan that measured anything or are `over`: that one measured
    nothing is no reason to show a better one from before.
    """

    def __init__(
        self,
        heads: Sequence[RunHead],
        measured: Collection[int],
        baselines: Iterable[Baseline],
        named: str | None,
        over: Collection[int] = (),
    ) -> None:
        by_name = {baseline.name: baseline for baseline in baselines}
        plans = {head.id: head.plan for head in heads}
        self._baselines = {plan: by_name[plan] for plan in set(plans.values()) & by_name.keys()}
        if named is not None:
            self._baselines |= {plans[run]: by_name[named] for run in by_name[named].runs}
        self._before: dict[int, int] = {}
        last: dict[str, int] = {}
        newest: dict[str, int] = {}
        for head in heads:
            if head.plan in last:
                self._before[head.id] = last[head.plan]
            if head.id in measured and not head.partial:
                last[head.plan] = head.id
            if (head.id in measured or head.id in over) and not head.partial:
                newest[head.plan] = head.id
        self.newest: Sequence[int] = tuple(newest.values())

    def of(self, head: RunHead) -> Selection | None:
        """Return what the run is compared with; None where there is nothing yet."""
        baseline = self._baselines.get(head.plan)
        if baseline is not None and baseline.runs and head.id not in baseline.runs:
            return titled(f"baseline {baseline.name}", baseline.runs, baseline.name)
        before = self._before.get(head.id)
        return None if before is None else Selection(f"run {before}, the run before", (before,))
