"""Which cases with system logs have a page: of a night of thousands nobody reads all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from railgauge.base.number import plural

if TYPE_CHECKING:
    from railgauge.store import Store

# By default so many cases of a run have one.
MOST_PAGES = 200


def paged_cases(
    store: Store, runs: Sequence[int], most: int | None = None
) -> tuple[dict[int, Sequence[tuple[str, str]]], str]:
    """Return (test, case key) of the cases that have a page, by run, and a note on others.

    Those have system logs. Of more than `most` those with suspect replications have pages, then the
    first ones. None is `MOST_PAGES`, and of more than these nothing but the former.
    """
    limit = MOST_PAGES if most is None else most
    if not limit:
        return {}, ""
    cases = {run: store.logged_cases(run, limit + 1) for run in runs}
    note = ""
    if most is None and _count(cases) > limit:
        cases = {run: store.logged_cases(run, limit + 1, suspect=True) for run in runs}
        note = (
            f"Of more than {limit} cases with system logs only those with suspect replications "
            "have a page: --cases N makes N pages."
        )
    if _count(cases) > limit:
        note = (
            f"At most {plural(limit, 'case has', 'cases have')} a page, those with suspect "
            "replications first: --cases allows more."
        )
    chosen: dict[int, Sequence[tuple[str, str]]] = {}
    for run, names in cases.items():
        chosen[run] = names[: limit - _count(chosen)]
    return chosen, note


def _count(cases: Mapping[int, Sequence[tuple[str, str]]]) -> int:
    return sum(map(len, cases.values()))
