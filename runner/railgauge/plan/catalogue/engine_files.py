"""Reads the descriptions of all engines: ours as they give them, external ones from YAML."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from railgauge.base import assets
from railgauge.base.errors import EnvironmentFailedError, FileProblems, Problem
from railgauge.plan.catalogue.argument_text import Value
from railgauge.plan.catalogue.info import (
    Catalogue,
    EngineInfo,
    MetricDescription,
    ParameterInfo,
    SeriesMode,
)

# Plans don't name rail-exec itself; they name what it runs.
_EXECUTOR = "exec"
_Entry = TypeVar("_Entry")


class _WithExternal(Mapping[str, _Entry]):
    """What is known of our engines, and of external ones, which are read when asked for.

    That takes longer than all else that most commands do, most of whose cases are of ours.
    """

    def __init__(self, own: Mapping[str, _Entry], read: Callable[[], Mapping[str, _Entry]]) -> None:
        """Of any but its `own`, or of how many there are, `read` knows: it gives all."""
        self._own, self._read = own, read

    def __getitem__(self, name: str) -> _Entry:
        return self._own[name] if name in self._own else self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def load_catalogue(extra: Sequence[Path] = ()) -> Catalogue:
    """Return our engines, those of engines/external/ and those that the `extra` files describe.

    FileProblems with the mistakes of all the descriptions.
    """
    own = own_catalogue()
    if not extra:
        return Catalogue(
            _WithExternal(own.engines, lambda: _read_shipped().engines),
            own.executor,
            _WithExternal({}, lambda: _read_shipped().external),
        )
    shipped = _read_shipped()
    engines, files = dict(shipped.engines), dict(shipped.external)
    _add_external(engines, files, extra, own.executor)
    return Catalogue(engines, own.executor, files)


def own_catalogue() -> Catalogue:
    """Return our engines alone: to read what others are described by takes longer."""
    return _own(assets.folder("schema"))


# Nothing changes them while a process runs, and a report or a plan of a thousand hosts asks often.
@functools.cache
def _own(schema: Path) -> Catalogue:
    engines = _our_engines(schema / "engines.json")
    executor = engines.pop(_EXECUTOR)
    return Catalogue(engines, executor, {})


def _read_shipped() -> Catalogue:
    return _shipped(assets.folder("schema"), assets.folder("engines"))


@functools.cache
def _shipped(schema: Path, sources: Path) -> Catalogue:
    own = _own(schema)
    engines, files = dict(own.engines), dict(own.external)
    _add_external(engines, files, sorted((sources / "external").glob("*.yaml")), own.executor)
    return Catalogue(engines, own.executor, files)


@functools.cache
def absent_values(engine: str, mode: Value | None) -> Mapping[str, Value]:
    """Return by name what a case of one of our engines in `mode` stands for without saying so."""
    info = own_catalogue().engines.get(engine)
    return info.absent_values(mode) if info else {}


@functools.cache
def former_defaults(engine: str, mode: Value | None) -> Mapping[str, Value]:
    """Return what of that isn't the engine's default any more."""
    info = own_catalogue().engines.get(engine)
    return info.former_defaults(mode) if info else {}


def _add_external(
    engines: dict[str, EngineInfo],
    files: dict[str, str],
    paths: Iterable[Path],
    executor: EngineInfo,
) -> None:
    """Add the engines that `paths` describe, and where they are from."""
    # Imported here, as it takes the models of descriptions, and who lists runs reads none.
    from railgauge.plan.catalogue.external import load_external

    owners = {_EXECUTOR: "railgauge", **dict.fromkeys(engines, "railgauge"), **files}
    own_engines = (executor, *(engine for engine in engines.values() if engine.program is None))
    namesakes = {name: metric for engine in own_engines for name, metric in engine.metrics.items()}
    problems: list[Problem] = []
    for path in paths:
        try:
            engine = load_external(path, executor, owners)
        except FileProblems as error:
            problems.extend(error.problems)
            continue
        engines[engine.name] = _like_ours(engine, namesakes)
        files[engine.name] = owners[engine.name] = str(path)
    if problems:
        raise FileProblems(problems)


def _like_ours(engine: EngineInfo, namesakes: Mapping[str, MetricDescription]) -> EngineInfo:
    """Return the engine, its metrics shown and judged as ours of the same name.

    They are averaged likewise, unless the description says otherwise or the unit is another.
    """
    metrics = {
        name: replace(
            metric,
            kind=metric.kind or (namesake.kind if metric.unit == namesake.unit else ""),
            headline=namesake.headline,
            judged=namesake.judged,
        )
        if (namesake := namesakes.get(name))
        else metric
        for name, metric in engine.metrics.items()
    }
    return replace(engine, metrics=metrics)


def _our_engines(path: Path) -> dict[str, EngineInfo]:
    try:
        described = json.loads(path.read_text(encoding="utf-8"))["engines"]
        return {name: read_engine(description) for name, description in described.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EnvironmentFailedError(
            f"{path}: the engines' descriptions can't be read ({error!r}): install railgauge again"
        ) from error


def read_engine(described: dict[str, Any]) -> EngineInfo:
    """Return one of our engines from its `--describe`; a key that is not there means none."""
    return EngineInfo(
        name=described["name"],
        version=described["version"],
        summary=described["summary"],
        roles=tuple(described["roles"]),
        parameters={entry["name"]: _parameter(entry) for entry in described["parameters"]},
        metrics={entry["name"]: _metric(entry) for entry in described["metrics"]},
        solo_modes=tuple(described.get("solo_modes", ())),
        group_modes=tuple(described.get("group_modes", ())),
        pair_modes=tuple(described.get("pair_modes", ())),
        series=tuple(_series(entry) for entry in described.get("series", ())),
        takes_link_rate=described.get("takes_link_rate", False),
    )


def _parameter(described: dict[str, Any]) -> ParameterInfo:
    kind = described["type"]
    return ParameterInfo(
        name=described["name"],
        type=kind,
        unit=described["unit"],
        default=_default(kind, described["default"]),
        min=described.get("min"),
        max=described.get("max"),
        choices=tuple(described.get("choices", ())),
        help=described["help"],
        modes=tuple(described.get("modes", ())),
        required_in=tuple(described.get("required_in", ())),
        implied=_default(kind, described["implied"]) if "implied" in described else None,
        former=described.get("former", {}),
    )


def _default(kind: str, value: Value) -> Value:
    # JSON's 5 and 5.0 are one number, but would be two in a case's key.
    if kind in ("time", "rate"):
        return float(value)
    return int(value) if kind in ("size", "int") else value


def _metric(described: dict[str, Any]) -> MetricDescription:
    return MetricDescription(
        name=described["name"],
        unit=described["unit"],
        better=described["better"],
        help=described["help"],
        modes=tuple(described.get("modes", ())),
        optional=described.get("optional", False),
        kind=described["kind"],
        headline=described.get("headline", 0),
        judged=described.get("judged", False),
    )


def _series(described: dict[str, Any]) -> SeriesMode:
    return SeriesMode(
        described["mode"], described["becomes"], described["parameter"], int(described["first"])
    )
