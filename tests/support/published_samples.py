"""A database with something for every page, table, figure and file that is made of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml
from tests.support import log_samples
from tests.support.report_data import trace
from tests.support.store_samples import MOMENT, RUN

from railgauge.base.systemlog import PortLog, Suspicion
from railgauge.base.trace import encode
from railgauge.plan.cases import Case, Value, case_key
from railgauge.store import Store
from railgauge.store.records import Launch, MetricInfo, Outcome, PlannedCase

# What a field is to be called -> what stands in it.
Words = Callable[[str], str]
_HOSTS = ("a", "b", "c")
_REPLICATIONS = 8


def plain(field: str) -> str:
    """Name a field after itself."""
    return field


def fill(where: Path, words: Words = plain) -> None:
    """Store two runs of a plan, the later one slower, and make the first its baseline."""
    with Store.open(str(where)) as store:
        first = _run(store, words, 1.0)
        # What can't be printed isn't taken for a name.
        name = "".join(c for c in words("baseline") if c.isprintable()).strip()
        store.set_baseline(name, [first], words("why"))
        _run(store, words, 0.9)


def definition(words: Words = plain) -> str:
    """Return a report definition with a text, tables, a list and figures of many kinds."""
    axes = {
        "link": {"title": words("axis"), "labels": {words("link-a-b"): words("label")}},
    }
    cell = {"metric": "throughput", "unit": "Mbit/s", "label": words("cell")}
    table = {
        "name": "table",
        "title": words("table title"),
        "rows": ["link"],
        "columns": ["folder"],
        "select": {"test": words("test"), "run": 2},
        "cells": [cell],
        "axes": axes,
        "missing": words("missing"),
        "notes": words("notes"),
        "footnotes": [{"where": {"link": words("link-a-b")}, "text": words("footnote")}],
    }
    select: dict[str, object] = {"test": words("test"), "run": 2}
    rate = {"metric": "throughput", "unit": "Mbit/s", "title": words("y axis")}
    figure: dict[str, object] = {
        "title": words("figure title"),
        "select": select,
        "notes": words("figure notes"),
    }
    figures: list[dict[str, object]] = [
        {"name": "bars", "kind": "bars", "x": {"axis": "link", "title": words("x axis")}},
        {"name": "heat", "kind": "heatmap", "each": ["folder"]},
        {"name": "over", "kind": "replications", "each": ["link"]},
    ]
    described = {
        "railgauge_report": 1,
        "name": "everything",
        "title": words("report title"),
        "texts": [{"name": "intro", "heading": words("heading"), "text": words("paragraph")}],
        "tables": [table],
        "figures": [{**figure, **variant, "y": rate, "axes": axes} for variant in figures]
        + [
            {
                **figure,
                "name": "arrival",
                "kind": "arrival",
                "select": {**select, "link": words("link-a-b")},
                "each": ["folder"],
            }
        ],
    }
    return yaml.safe_dump(described, allow_unicode=True)


def _run(store: Store, words: Words, level: float) -> int:
    cases = [
        _case(words, client, server, note)
        for client in _HOSTS
        for server in _HOSTS
        for note in ("note", "other note")
        if client != server
    ]
    test = words("test")
    planned = [PlannedCase(test, case, _REPLICATIONS) for case in cases]
    planned.append(PlannedCase(words("left out"), cases[0], 3, words("skipped")))
    new = replace(
        RUN,
        plan=words("plan"),
        plan_text=words("text"),
        directory=f"/{words('folder')}",
        git_commit=words("0123456789abcdef"),
        controller=words("controller"),
        engines_hash=words("source"),
        files={words("file"): words("content")},
    )
    metrics = {
        "throughput": MetricInfo("bit/s", "higher"),
        words("metric"): MetricInfo(words("unit"), "lower"),
    }
    run = store.begin_run(new, planned, {"udp": metrics})
    with store.together():
        for place, case in enumerate(cases):
            for outcome in _outcomes(words, case, place, level):
                store.add(run, test, case.key, outcome, _launch(words, place))
    for host in map(words, _HOSTS):
        store.add_facts(run, host, {"kernel": f"6.{level}", words("fact"): words(f"value {level}")})
    store.finish_run(run, "complete")
    return run


def _case(words: Words, client: str, server: str, note: str) -> Case:
    link = words(f"link-{client}-{server}")
    parameters: dict[str, Value] = {
        "mode": "stream",
        "folder": words(note),
        words("parameter"): words("setting"),
    }
    key = case_key("udp", link, words(client), words(server), parameters)
    return Case(key, "udp", link, words(client), words(server), parameters)


def _launch(words: Words, place: int) -> Launch:
    warnings = (f"client: {words('warning')}",) if place < 2 else ()
    return Launch(MOMENT + place, {words("granted"): words("10")}, {"sockbuf": 1}, warnings)


def _outcomes(words: Words, case: Case, place: int, level: float) -> Iterator[Outcome]:
    draw = np.random.default_rng([place, int(level * 10)])
    slow = level if place < 4 else 1.0
    rates = 1e9 * slow * (1 + 0.002 * draw.standard_normal(_REPLICATIONS))
    for number, rate in enumerate(rates.tolist(), 1):
        metrics = {"throughput": rate, words("metric"): 1 / rate}
        outcome = Outcome(number, MOMENT + number, metrics)
        if place == 0:
            logs = [
                replace(log_samples.system_log(words(host), samples=6), labels=_labels(words))
                for host in ("a", "b")
            ]
            port = PortLog(1, words("switch"), words("port"), {"ifHCInOctets": 1000 + number})
            outcome = replace(outcome, logs=tuple(logs), ports=(port,))
            if number == 1:
                outcome = replace(outcome, trace=encode(trace({3: 4, 40: 1}, sent=200)))
            if number == 2:
                suspicion = Suspicion("swapped", words("a"), words("suspicion"))
                outcome = replace(outcome, status="suspect", suspicions=(suspicion,))
        if place == 1 and number == 3:
            outcome = Outcome(
                number,
                MOMENT,
                {},
                status="failed",
                error_code=words("error-code"),
                error_message=words("error message"),
            )
        yield outcome


def _labels(words: Words) -> Mapping[str, str]:
    return {"interrupt/24": words("device"), "interrupt/LOC": "Local timer interrupts"}


# One process for all commands: to start Python twenty times takes longer than what they do.
_COMMANDS = """
import json, os, sys
from railgauge.cli import main
for number, arguments in enumerate(json.load(sys.stdin)):
    out = os.open(f"printed-{number}", os.O_WRONLY | os.O_CREAT, 0o666)
    os.dup2(out, 1)
    sys.argv = ["railgauge", *arguments]
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        if end.code not in (0, 1):
            raise
"""


def railgauge(
    commands: Sequence[Sequence[object]],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    umask: int = -1,
) -> list[bytes]:
    """Run command lines in `folder`, each to end with 0 or 1, and return what they print."""
    completed = subprocess.run(
        [sys.executable, "-c", _COMMANDS],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        input=json.dumps([[*map(str, command)] for command in commands]).encode(),
        capture_output=True,
        check=False,
        umask=umask,
    )
    assert completed.returncode == 0, completed.stderr.decode("utf-8", "replace")
    return [(folder / f"printed-{number}").read_bytes() for number in range(len(commands))]


def publish(
    where: Path,
    folder: Path,
    words: Words = plain,
    environment: Mapping[str, str] | None = None,
    umask: int = -1,
) -> dict[str, bytes]:
    """Make all that can be made of the database in `folder`: file's name -> content.

    What commands print is in files, too.
    """
    folder.mkdir(parents=True)
    (folder / "spec.yaml").write_text(definition(words), encoding="utf-8")
    out = folder / "made"
    out.mkdir()
    (out / "compared").mkdir()
    own = ["--spec", folder / "spec.yaml", "--appendix"]
    with Store.open(str(where)) as store:
        case = (store.run(1).cases[0].case.key, "--test", words("test"))
    silent: list[tuple[object, ...]] = [
        ("report", 1, 2, "--out", out / "own", *own),
        ("report", 2, "--out", out / "default"),
        ("site", "--out", out / "site"),
        *(("export", form, "--out", out / f"all.{form}") for form in ("csv", "json", "parquet")),
        ("export", "hpcbench", 2, "--out", out / "hpcbench"),
        ("history", *case, "--out", out / "history"),
    ]
    telling: dict[str, tuple[object, ...]] = {
        "list": ("list",),
        "list.json": ("list", "--json"),
        "show": ("show", 2),
        "show.json": ("show", 2, "--json"),
        "compare": ("compare", 1, 2, "--all", "--markdown", out / "compared/all.md"),
        "compare.json": ("compare", 1, 2, "--json"),
        "diff": ("diff", 1, 2),
        "diff.json": ("diff", 1, 2, "--json"),
        "history": ("history", *case),
        "history.json": ("history", *case, "--json"),
        "changes": ("history", "--all"),
        "baselines": ("baseline", "list"),
    }
    commands = [[*command, "--db", where] for command in (*silent, *telling.values())]
    printed = railgauge(commands, folder, environment, umask)[len(silent) :]
    files = {f"printed/{name}": text for name, text in zip(telling, printed, strict=True)}
    for path in sorted(out.rglob("*")):
        if path.is_file():
            files[str(path.relative_to(out))] = path.read_bytes()
    return files
