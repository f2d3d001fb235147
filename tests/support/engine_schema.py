"""What engines say of their parameters, in a plan's JSON Schema: for editors, which explain it."""

from __future__ import annotations

from typing import Any

from railgauge.plan.catalogue import Catalogue, EngineInfo, ParameterInfo

_Schema = dict[str, Any]
_TYPES: _Schema = {
    "int": "integer",
    "bool": "boolean",
    "size": ["string", "number"],
    "time": ["string", "number"],
    "rate": ["string", "number"],
}


def add_engines(schema: _Schema, catalogue: Catalogue) -> None:
    """Let the `schema` of plans know which engines there are, and which parameters each takes.

    A plan that describes engines of its own may name others, too.
    """
    names = sorted(catalogue.engines)
    choices = {"properties": {"engine": {"enum": names}}}
    schema["if"] = {"not": {"required": ["engines"]}}
    schema["then"] = {"properties": {"tests": {"items": choices}}}
    rules = schema["$defs"]["Test"]["allOf"] = []
    for name in names:
        engine = catalogue.engines[name]
        schema["$defs"][f"engine_{name}"] = _Schema(
            set=_Schema(
                properties={key: _value(info) for key, info in engine.parameters.items()},
                additionalProperties=False,
            ),
            grid=_Schema(
                properties={key: _axis(engine, info) for key, info in engine.parameters.items()},
                additionalProperties=False,
            ),
        )
        place = f"#/$defs/engine_{name}"
        grid = {"$ref": f"{place}/grid"}
        rules.append(
            {
                "if": {"properties": {"engine": {"const": name}}, "required": ["engine"]},
                "then": {
                    "properties": {
                        "engine": {"description": engine.summary},
                        "set": {"$ref": f"{place}/set"},
                        "grid": grid,
                        "zip": {"items": grid},
                        "exclude": {"items": {"propertyNames": {"enum": [*engine.parameters]}}},
                    }
                },
            }
        )


def _value(info: ParameterInfo) -> _Schema:
    """Return what one value may be: never less than what a plan's reader takes."""
    schema: _Schema = {"description": _help(info)}
    if info.type == "choice":
        numbers = [int(choice) for choice in info.choices if choice.isdecimal()]
        schema["enum"] = [*info.choices, *numbers]
    else:
        schema["type"] = _TYPES.get(info.type, ["string", "integer"])
    if info.type == "int":
        bounds = {"minimum": info.min, "maximum": info.max}
        schema |= {key: int(bound) for key, bound in bounds.items() if bound is not None}
    return schema


def _axis(engine: EngineInfo, info: ParameterInfo) -> _Schema:
    item = {"$ref": f"#/$defs/engine_{engine.name}/set/properties/{info.name}"}
    ranges = {"type": "object"}  # As the test's own schema has it.
    return {
        "description": _help(info),
        "anyOf": [{"type": "array", "items": item}, ranges],
    }


def _help(info: ParameterInfo) -> str:
    words = [info.help] if info.help else []
    if info.modes:
        words.append(f"in mode {', '.join(info.modes)}")
    if info.default is not None:
        words.append(f"default {info.format(info.default) or '(empty)'}")
    return "; ".join(words)
