"""What is known of an engine, its parameters and its metrics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from railgauge.base import units
from railgauge.base.errors import EngineError, InputError
from railgauge.base.suggestion import suggest, suggest_or_list
from railgauge.plan.catalogue.argument_text import Value, Written, plain
from railgauge.plan.catalogue.output import ProgramOutput
from railgauge.plan.catalogue.program import Program, expand
from railgauge.plan.catalogue.template import split_arguments

# A parameter that any engine's cases may have and no engine is given: soakers keep the CPUs awake,
# which makes another case.
SOAK = "soak"

_QUANTITIES: Mapping[str, Callable[[str | int | float], int | float]] = {
    "size": units.parse_size,
    "time": units.parse_time,
    "rate": units.parse_rate,
}


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A setting of an engine. `default`, `min` and `max` are in base units.

    `type` is size, time, rate, int, choice, bool, text or argv (text that is split into arguments
    by a shell's rules for quotes, though no shell sees it). Without a default (None) the plan has
    to set it. `modes` are those in which it has an effect; none named means all. In the modes
    `required_in` each test has to set it, whatever its default, and a number to more than 0.
    `written` is how an external program gets it. `implied` is what cases were measured with before
    it was there: it is left out of a case that has this value, so that they keep their keys; None:
    each case has it. `former` are choices by the names that they had.
    """

    name: str
    type: str
    unit: str = ""
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""
    modes: tuple[str, ...] = ()
    required_in: tuple[str, ...] = ()
    written: Written = field(default_factory=Written)
    implied: Value | None = None
    former: Mapping[str, str] = field(default_factory=dict)

    def absent_value(self, mode: Value | None) -> Value | None:
        """Return what a case in `mode` stands for that has no value of it; None: each has one."""
        if self.implied is None or self.applies(() if mode is None else (mode,)):
            return self.implied
        return self.default

    def parse(self, value: object) -> Value:
        """Return what a plan wrote, in base units; ValueError says what to write instead."""
        parsed = self._parse(value)
        try:
            self.written.text(parsed)
        except ValueError as error:
            raise ValueError(f"{self.format(parsed)} can't be used: {error}") from None
        return parsed

    def _parse(self, value: object) -> Value:
        if isinstance(value, bool) != (self.type == "bool") or not isinstance(
            value, int | float | str
        ):
            raise ValueError(f"{_written(value)} is not {_WANTED[self.type]}")
        if self.type in _QUANTITIES:
            return self._in_range(_QUANTITIES[self.type](value))
        if self.type == "int":
            if not isinstance(value, int):
                raise ValueError(f"{value!r} is not {_WANTED[self.type]}")
            return self._in_range(value)
        return value if self.type == "bool" else self._parse_text(value)

    def _parse_text(self, value: int | float | str) -> str:
        if isinstance(value, float):
            raise ValueError(f"{value!r} is not {_WANTED[self.type]}")
        text = str(value)
        if text in self.former:
            raise ValueError(f"{text!r} has another name: write {self.former[text]!r}")
        if self.type == "choice" and text not in self.choices:
            hint = suggest(text, self.choices)
            raise ValueError(f"{text!r} is not one of {', '.join(self.choices)}{hint}")
        if self.type == "argv":
            split_arguments(text)
        elif not text.isprintable():
            raise ValueError(f"{text!r} has a line break or control character: leave it out")
        return text

    def format(self, value: Value) -> str:
        """Return `value` as a table shows it: `4KiB`, `5s`, `true`."""
        if isinstance(value, bool | str):
            return str(value).lower() if isinstance(value, bool) else value
        if self.type == "size":
            return units.format_size(int(value))
        if self.type == "time":
            return units.format_time(float(value))
        if self.type == "rate":
            return units.format_rate(float(value))
        return str(value)

    def applies(self, modes: Collection[Value]) -> bool:
        """Return whether it has an effect in any of `modes` (none: the engine has no modes)."""
        return not self.modes or not modes or any(mode in self.modes for mode in modes)

    def _in_range(self, value: int | float) -> int | float:
        if (self.min is None or value >= self.min) and (self.max is None or value <= self.max):
            return value
        bounds = [
            f"{word} {self.format(int(bound) if self.type == 'int' else bound)}"
            for word, bound in (("at least", self.min), ("at most", self.max))
            if bound is not None
        ]
        raise ValueError(f"{self.format(value)} is out of range: write {' and '.join(bounds)}")


_WANTED: Mapping[str, str] = {
    "size": "a size: write for example 1460, 4KiB or 10MB",
    "time": "a time: write for example 5s, 12us or 2.9ms",
    "rate": "a rate: write for example 150Mbit/s or 1Gbit/s",
    "int": "a whole number: write digits only",
    "bool": "true or false: write one of them",
    "choice": "text: put it in quotes",
    "text": "text: put it in quotes",
    "argv": "text: put it in quotes",
}


def _written(value: object) -> str:
    """Return `value` as YAML has it, for a sentence."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return "nothing" if value is None else repr(value)


@dataclass(frozen=True, slots=True)
class MetricDescription:
    """A value that an engine reports: base unit, and whether higher, lower or neither is better.

    `source` says where it stands in what an external program writes. An `optional` one
    comes only where it could be measured; the others come in each replication of their modes.
    `kind` says what may be done with its values (stats.MetricKind), "" where nobody does. Where
    nobody names metrics, tables show those with a `headline` number, small ones first, and runs
    are compared by those that are `judged`.
    """

    name: str
    unit: str
    better: str
    help: str = ""
    modes: tuple[str, ...] = ()
    source: str = ""
    optional: bool = False
    kind: str = ""
    headline: int = 0
    judged: bool = False


@dataclass(frozen=True, slots=True)
class SeriesMode:
    """A mode that a plan may name for a whole row of cases.

    They are of mode `becomes`; `parameter` runs through `first`, twice that, and so on up to what
    is set for it, and that itself comes last.
    """

    mode: str
    becomes: str
    parameter: str
    first: int

    def values(self, limit: Value) -> list[Value]:
        """Return the values of the parameter up to and including `limit`."""
        values: list[Value] = []
        value = self.first
        while value < float(limit):
            values.append(float(value) if isinstance(limit, float) else value)
            value *= 2
        return [*values, limit]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine is and takes. `program` is how an external program is run.

    In `solo_modes` the client measures alone: the link's other host only gives the address.
    `group_modes` are measured among all hosts of a group; those of them that are also `pair_modes`
    give a measurement of each ordered pair of its hosts. One that `takes_link_rate` makes something
    of what its link is known to carry.
    """

    name: str
    version: str
    summary: str
    roles: tuple[str, ...]
    parameters: Mapping[str, ParameterInfo]
    metrics: Mapping[str, MetricDescription]
    program: Program | None = None
    solo_modes: tuple[str, ...] = ()
    group_modes: tuple[str, ...] = ()
    pair_modes: tuple[str, ...] = ()
    series: tuple[SeriesMode, ...] = ()
    takes_link_rate: bool = False

    @property
    def two_sided(self) -> bool:
        """Whether it measures between two hosts (links) rather than on one."""
        return "server" in self.roles

    @property
    def parallel(self) -> bool:
        """Whether it is one MPI job, with a rank or more on each host."""
        return "rank" in self.roles

    @property
    def launched_singly(self) -> bool:
        """Whether a launch is of one replication, as its server is started anew for each."""
        return self.program is not None and bool(self.program.server)

    def measures(self, mode: Value | None) -> str:
        """Return what it measures in `mode`: `links`, `groups` or `hosts`."""
        if self.program is not None and self.program.mpi:
            return self.program.mpi
        if mode in self.group_modes:
            return "groups"
        return "links" if self.two_sided or self.parallel else "hosts"

    def metrics_in(self, mode: Value | None) -> list[MetricDescription]:
        """Return the metrics that come in `mode`."""
        return [info for info in self.metrics.values() if not info.modes or mode in info.modes]

    def has_effect(self, name: str, parameters: Mapping[str, Value]) -> bool:
        """Return whether there is a parameter `name` and it has an effect in the mode of these."""
        info = self.parameters.get(name)
        if info is None:
            return False
        return not info.modes or "mode" not in parameters or parameters["mode"] in info.modes

    def is_timed(self, parameters: Mapping[str, Value]) -> bool:
        """Return whether a replication with `parameters` takes their duration, and no count.

        A duration of 0 means as long as it takes.
        """
        timed = self.has_effect("duration", parameters) and bool(parameters.get("duration"))
        is_time = timed and self.parameters["duration"].type == "time"
        return is_time and not self.is_counted(parameters)

    def timed_seconds(self, parameters: Mapping[str, Value]) -> float:
        """Return what is timed of a replication: what is omitted too, and the warm-up before it.

        Seconds; 0 where a count or an amount decides how long it takes.
        """
        if not self.is_timed(parameters):
            return 0.0
        return sum(float(parameters.get(name, 0)) for name in ("duration", "omit", "warmup"))

    def is_counted(self, parameters: Mapping[str, Value]) -> bool:
        """Return whether a count ends a replication with `parameters`, and no duration."""
        return self.has_effect("count", parameters) and bool(parameters.get("count"))

    def written(self, parameters: Mapping[str, Value], **more: str) -> dict[str, str]:
        """Return the `parameters` as an external program gets them, and `more` texts.

        One that has no effect in the mode is written as nothing.
        """
        texts = {
            name: info.written.text(parameters[name]) if self.has_effect(name, parameters) else ""
            for name, info in self.parameters.items()
            if name in parameters
        }
        return {**texts, **more}

    @property
    def argv_names(self) -> frozenset[str]:
        """The parameters that stand for several arguments of an external program."""
        return frozenset(name for name, info in self.parameters.items() if info.type == "argv")

    def argv(self, parameters: Mapping[str, Value], **more: str) -> list[str]:
        """Return the command line of an external program, with `more` texts for placeholders.

        An argument that is just the placeholder of an `argv` parameter becomes all its arguments.
        """
        assert self.program is not None
        return expand(self.program.command, self.written(parameters, **more), self.argv_names)

    def options(self, parameters: Mapping[str, Value]) -> list[str]:
        """Return the options of our own engine for a case with `parameters`.

        What such a case stands for is named where it isn't the engine's default any more; what we
        see to isn't.
        """
        former = self.former_defaults(parameters.get("mode"))
        return [
            f"--{name}={plain(value)}"
            for name, value in {**former, **parameters}.items()
            if name != SOAK or name in self.parameters
        ]

    def absent_values(self, mode: Value | None) -> dict[str, Value]:
        """Return by name what a case in `mode` stands for where it says nothing."""
        values = {name: info.absent_value(mode) for name, info in self.parameters.items()}
        return {name: value for name, value in values.items() if value is not None}

    def former_defaults(self, mode: Value | None) -> dict[str, Value]:
        """Return what of that isn't the default any more."""
        absent = self.absent_values(mode)
        return {
            name: value for name, value in absent.items() if value != self.parameters[name].default
        }

    def check_confirmed(self, parameters: Mapping[str, Value], output: str) -> None:
        """EngineError `output` if an external program says that it took other `parameters`."""
        if self.program is not None and self.program.confirmed:
            self.program.check_confirmed(ProgramOutput(output), self.written(parameters))

    def read_metrics(
        self,
        reported: Mapping[str, float],
        output: str,
        mode: Value | None = None,
        *,
        warmup: bool = False,
    ) -> dict[str, float]:
        """Return this engine's metrics in `mode` from what it, or rail-exec for it, reported.

        `output` is what an external program printed. EngineError `contract` where a metric is
        missing that is not optional, but of a `warmup`, which may be too short for a rate, or one
        is unknown and so has no unit; `output` where a program's output lacks one.
        """
        if self.program is not None:
            optional = frozenset(metric.name for metric in self.metrics.values() if metric.optional)
            printed = ProgramOutput(output)
            self.program.check_whole(printed)
            return self.program.read(reported, printed, mode, optional)
        if unknown := sorted(set(reported) - set(self.metrics)):
            raise EngineError(
                "contract",
                f"engine {self.name} reported {', '.join(unknown)}, which its description "
                "lacks: are the engines on the host older or newer than this railgauge?",
            )
        required = {metric.name for metric in self.metrics_in(mode) if not metric.optional}
        if not warmup and (missing := sorted(required - set(reported))):
            raise EngineError("contract", f"engine {self.name} did not report {', '.join(missing)}")
        return dict(reported)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The engines that plans may name; `executor` is rail-exec, which runs the external ones."""

    engines: Mapping[str, EngineInfo]
    executor: EngineInfo
    external: Mapping[str, str] = field(default_factory=dict)  # Name -> file that describes it.

    def engine(self, name: str) -> EngineInfo:
        """Return the engine called `name`; InputError names the nearest."""
        if name in self.engines:
            return self.engines[name]
        hint = suggest_or_list(name, sorted(self.engines))
        raise InputError(f"unknown engine {name!r}{hint}")
