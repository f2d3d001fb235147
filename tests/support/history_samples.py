"""A database that gets a night after the other, for the tests of histories."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from tests.support.store_samples import LAUNCH, METRICS, RUN, case, failed, measured, planned

from railgauge.base.errors import InputError
from railgauge.base.systemlog import Suspicion
from railgauge.cli.history import history
from railgauge.plan.cases import Case
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun

FACTS = {"gw1": {"kernel": "6.1"}, "hh1": {"kernel": "6.1"}}
SWAPPED = Suspicion("swapped", "gw1", "it swapped")
NIGHTLY = replace(RUN, plan="nightly", git_dirty=False)


class Database:
    """A database that gets a night after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._random = np.random.default_rng(7)
        self._store: Store | None = None

    def night(
        self,
        *levels: tuple[Case, float],
        new: NewRun = NIGHTLY,
        facts: Mapping[str, Mapping[str, str]] | None = None,
        metrics: Mapping[str, Mapping[str, MetricInfo]] = METRICS,
        n: int = 6,
        suspect: int = 0,
        test: str = "stream",
    ) -> int:
        """Store a run with `n` throughputs around each case's level; level 0: all failed."""
        with self._opened() as store:
            run = store.begin_run(
                new, planned(*(test_case for test_case, _ in levels), test=test), metrics
            )
            with store.together():
                for test_case, level in levels:
                    noise = 0.003 * self._random.standard_normal(n)
                    tonight = level * (1 + 0.005 * self._random.standard_normal())
                    for number, value in enumerate((tonight * (1 + noise)).tolist(), 1):
                        outcome = measured(number, value) if level else failed(number)
                        if level and number <= suspect:
                            outcome = replace(outcome, status="suspect", suspicions=(SWAPPED,))
                        store.add(run, test, test_case.key, outcome, LAUNCH)
            for host, host_facts in (facts or {}).items():
                store.add_facts(run, host, host_facts)
            store.finish_run(run, "complete")
        return run

    def nights(self, levels: Iterable[float], **more: Any) -> None:
        with self._opened() as self._store:
            for level in levels:
                self.night((case(), level), **more)
        self._store = None

    def _opened(self) -> AbstractContextManager[Store]:
        """Open what only this has written, unless it is open for several nights."""
        if self._store is not None:
            return nullcontext(self._store)
        return Store.open(str(self.path), check=False)

    def date(self) -> None:
        """Let each run be a night later than the one before, not a moment."""
        connection = sqlite3.connect(self.path)
        with connection:
            connection.execute(
                "UPDATE run SET checksum = NULL, started_at ="
                " strftime('%Y-%m-%dT02:00:00.000000Z', '2026-09-01', (id - 1) || ' days')"
            )
        connection.close()

    def say(self, *arguments: str) -> str:
        self.date()
        result = CliRunner().invoke(history, [*arguments, "--db", str(self.path)])
        assert result.exit_code == 0, result.output + str(result.exception)
        return result.output

    def json(self, *arguments: str) -> Any:
        return json.loads(self.say(*arguments, "--json"))

    def refusal(self, *arguments: str) -> str:
        result = CliRunner().invoke(history, [*arguments, "--db", str(self.path)])
        assert isinstance(result.exception, InputError)
        return str(result.exception)
