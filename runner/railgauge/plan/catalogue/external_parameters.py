"""Checks the parameters of an external engine: their limits, defaults and how they are written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from railgauge.base import units
from railgauge.base.number import fitting_units
from railgauge.base.suggestion import suggest, suggest_or_list
from railgauge.plan.catalogue.argument_text import Value, Written
from railgauge.plan.catalogue.external_model import ExternalParameter
from railgauge.plan.catalogue.info import ParameterInfo
from railgauge.plan.validation import Reporter

# What a case has beside its parameters, and plans or templates name in the same place.
_RESERVED = (
    "client",
    "client_host",
    "engine",
    "host",
    "link",
    "plan",
    "port",
    "run",
    "server",
    "server_host",
    "test",
)
_UNITS: Mapping[str, str] = {"size": "B", "time": "s", "rate": "bit/s"}
_NUMERIC = ("size", "time", "rate", "int")


class ParameterReader:
    """Reads parameters; `shared` are names that every external engine has."""

    def __init__(self, report: Reporter, shared: Collection[str]) -> None:
        self._report = report
        self._shared = shared

    def read(self, name: str, written: ExternalParameter) -> ParameterInfo:
        """Return the parameter, as far as it is sound."""
        kind = written.type
        if name in self._shared or name in _RESERVED:
            message = f"{name!r} is railgauge's own word: name the parameter otherwise"
            self._report(message, "parameters", name, key=True)
        if (kind == "choice") != bool(written.choices):
            message = "'choices' belongs to the type choice, and only there"
            self._report(message, "parameters", name, "choices", key=True)
        info = ParameterInfo(
            name,
            kind,
            _UNITS.get(kind, ""),
            choices=tuple(written.choices),
            help=written.help,
            modes=tuple(written.modes),
        )
        for limit in ("min", "max"):
            if getattr(written, limit) is not None and kind not in _NUMERIC:
                message = f"a parameter of type {kind} has no {limit!r}: leave it out"
                self._report(message, "parameters", name, limit, key=True)
                return info
        least = self._parse(info, "min", written.min)
        most = self._parse(info, "max", written.max)
        info = replace(
            info,
            min=None if least is None else float(least),
            max=None if most is None else float(most),
            written=self._written(info, written),
        )
        only = written.choices[0] if len(written.choices) == 1 else None
        default = self._parse(info, "default", only if written.default is None else written.default)
        return replace(info, default=default)

    def check_modes(self, parameters: Mapping[str, ParameterInfo]) -> None:
        """See that the modes of `parameters` are there, and what the others do without them."""
        mode_info = parameters.get("mode")
        modes = mode_info.choices if mode_info else ()
        for name, info in parameters.items():
            for index, mode in enumerate(info.modes):
                if name == "mode" or mode not in modes:
                    message = f"{mode!r} is no mode of this engine{suggest(mode, modes)}"
                    self._report(message, "parameters", name, "modes", index)
            if info.modes and info.default is None:
                message = f"{name!r} has no effect in some modes, so give it a default"
                self._report(message, "parameters", name, "modes", key=True)

    def _written(self, info: ParameterInfo, written: ExternalParameter) -> Written:
        for key, misplaced in (
            ("unit", written.unit and info.type not in _UNITS),
            ("whole", written.whole and info.type not in _UNITS),
            ("as", written.written and info.type == "argv"),
        ):
            if misplaced:
                message = f"a parameter of type {info.type} has no {key!r}: leave it out"
                self._report(message, "parameters", info.name, key, key=True)
                return Written()
        if written.unit and units.DISPLAY.get(written.unit, ("",))[0] != info.unit:
            hint = suggest_or_list(written.unit, fitting_units(info.unit))
            message = f"{written.unit!r} is no unit of a {info.type}{hint}"
            self._report(message, "parameters", info.name, "unit")
            return Written()
        special: dict[Value, str] = {}
        for key, text in written.written.items():
            value = self._parse(info, "as", _value(info.type, key), key)
            if value is not None:
                special[value] = text
        return Written(written.unit, written.whole, special)

    def _parse(self, info: ParameterInfo, key: str, written: object, *inner: str) -> Value | None:
        if written is None:
            return None
        try:
            return info.parse(written)
        except ValueError as error:
            loc = ("parameters", info.name, key, *inner)
            self._report(f"{key!r}: {error}", *loc, key=bool(inner))
            return None


def _value(kind: str, key: str) -> object:
    """Return what a key of YAML, which is always text, stands for."""
    if kind == "bool" and key in ("true", "false"):
        return key == "true"
    return int(key) if kind == "int" and key.lstrip("-").isdecimal() else key
