"""What a run came to by test: how its replications ended, what its launches' settings were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, case, func, select

from railgauge.plan.cases import Value
from railgauge.store.models import BenchCase, HostFact, LaunchRow, Replication, RunCase
from railgauge.store.read import find_run

_WARMUPS = "warmups"


@dataclass(frozen=True, slots=True)
class Counts:
    """Replications that are ok, suspect or failed; `warmups` are none of them."""

    ok: int = 0
    suspect: int = 0
    failed: int = 0
    warmups: int = 0


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """The settings that both sides' engines had, as launches came.

    Name -> its distinct values -> the keys of the cases that had them.
    """

    client: dict[str, dict[Value, dict[str, None]]] = field(default_factory=dict)
    server: dict[str, dict[Value, dict[str, None]]] = field(default_factory=dict)


def replication_counts(connection: Connection, run_id: int) -> Mapping[str, Counts]:
    """Return the counts of each test of the run that has any replication."""
    find_run(connection, run_id)
    status = case((Replication.number < 0, _WARMUPS), else_=Replication.status)
    query = (
        select(RunCase.test, status, func.count())
        .join(RunCase, RunCase.id == Replication.run_case_id)
        .where(RunCase.run_id == run_id)
        .group_by(RunCase.test, status)
    )
    by_test: dict[str, dict[str, int]] = {}
    for test, name, count in connection.execute(query):
        by_test.setdefault(test, {})[name] = count
    return {test: Counts(**counts) for test, counts in by_test.items()}


def launch_settings(connection: Connection, run_id: int) -> Mapping[str, LaunchSettings]:
    """Return by test what the settings of the run's launches were."""
    query = (
        select(RunCase.test, BenchCase.key, LaunchRow.client, LaunchRow.server)
        .join(RunCase, RunCase.id == LaunchRow.run_case_id)
        .join(BenchCase, BenchCase.id == RunCase.case_id)
        .where(RunCase.run_id == run_id)
        .order_by(LaunchRow.id)
    )
    by_test: dict[str, LaunchSettings] = {}
    for test, case_key, client, server in connection.execute(query):
        settings = by_test.setdefault(test, LaunchSettings())
        for side, text in ((settings.client, client), (settings.server, server)):
            for name, value in json.loads(text).items():
                side.setdefault(name, {}).setdefault(value, {})[case_key] = None
    return by_test


def granted_by_case(
    settings: LaunchSettings,
) -> dict[str, dict[str, dict[str, list[Value]]]]:
    """Return by case key, side and name the distinct values that were granted."""
    granted: dict[str, dict[str, dict[str, list[Value]]]] = {}
    for side, of_side in (("client", settings.client), ("server", settings.server)):
        for name, values in of_side.items():
            for value, keys in values.items():
                for key in keys:
                    sides = granted.setdefault(key, {"client": {}, "server": {}})
                    sides[side].setdefault(name, []).append(value)
    return granted


def changed_facts(connection: Connection, run_id: int) -> list[tuple[str, str]]:
    """Return (host, name) of the facts of which the run has more than one value, as a resumed one.

    In the order of hosts and names.
    """
    query = (
        select(HostFact.host, HostFact.name)
        .where(HostFact.run_id == run_id)
        .group_by(HostFact.host, HostFact.name)
        .having(func.count() > 1)
        .order_by(HostFact.host, HostFact.name)
    )
    return [(host, name) for host, name in connection.execute(query)]
