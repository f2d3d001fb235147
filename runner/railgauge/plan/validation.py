"""Validates a document with a pydantic model and says every mistake in plain English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Protocol, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.suggestion import suggest
from railgauge.plan.yamlfile import Document, Mistake

M = TypeVar("M", bound=BaseModel)


class StrictModel(BaseModel):
    """Base of the models of files: no unknown keys, no silent conversions, no changes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def matching(pattern: str, advice: str) -> AfterValidator:
    """Return a validator of texts that have to fit all of `pattern`; `advice` follows others."""
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(f"{text[:80]!r} {advice}")
        return text

    return AfterValidator(check)


def _scalar(value: object) -> object:
    if value is None or isinstance(value, dict | list):
        raise ValueError(f"{describe(value)} stands where a single value is wanted")
    return value


# What a parameter's value may be before its engine is known.
Scalar = Annotated[
    Any,
    AfterValidator(_scalar),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]


def _no_boolean(value: object) -> object:
    # To Python, true is 1.
    if isinstance(value, bool):
        raise ValueError(f"{describe(value)} stands where 1 is wanted")
    return value


# The version of a file's format, of which there is one so far.
Version = Annotated[Literal[1], BeforeValidator(_no_boolean)]


class Reporter(Protocol):
    """Notes a problem: its message and where it stands, `key` if the key itself is wrong."""

    def __call__(self, message: str, *loc: str | int, key: bool = False) -> None:
        """Note it."""


def attempt(document: Document, model: type[M]) -> tuple[M | None, list[Mistake]]:
    """Return the document's data as a `model` or, where it is wrong, None and why."""
    missing_values = {
        loc: Mistake(
            loc, document.problem(loc, f"{_subject(loc)} has no value: write one or drop it")
        )
        for loc in _missing_values(document.data)
    }
    # What lacks an entry that is wrong is not too short for that.
    lacking = {("too_short", mistake.loc[:-1]) for mistake in document.mistakes}
    try:
        value = model.model_validate(document.data)
        mistakes = [*document.mistakes, *missing_values.values()]
        return (None, mistakes) if mistakes else (value, [])
    except ValidationError as error:
        return None, [
            *document.mistakes,
            *missing_values.values(),
            *(
                Mistake(detail["loc"], _problem(document, model, detail))
                for detail in error.errors(include_url=False)
                if detail["loc"] not in missing_values
                and (detail["type"], detail["loc"]) not in lacking
            ),
        ]


def _missing_values(data: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield where a value is missing: a key without one is rather an accident than a wish."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while stack:
        loc, value = stack.pop()
        if value is None:
            yield loc
        elif isinstance(value, dict):
            stack.extend(((*loc, key), child) for key, child in value.items())
        elif isinstance(value, list):
            stack.extend(((*loc, index), child) for index, child in enumerate(value))


def _subject(loc: Sequence[str | int]) -> str:
    return repr(loc[-1]) if loc and isinstance(loc[-1], str) else "this item"


def validate(document: Document, model: type[M]) -> M:
    """Return the document's data as a `model`; FileProblems with everything that is wrong."""
    value, mistakes = attempt(document, model)
    if value is None:
        raise FileProblems(mistake.problem for mistake in mistakes)
    return value


def describe(value: object) -> str:
    """Return what a value is, for a sentence: `the text 'abc'`, `a list`, `nothing`."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value if len(value) <= 60 else value[:57] + '...'!r}"
    return "a mapping" if isinstance(value, dict) else "a list"


# pydantic's type of error -> what is wanted instead, with {names} from the error's context.
_WANTED: Mapping[str, str] = {
    "string_type": "text is wanted (a number meant as text goes in quotes)",
    "string_too_short": "text of at least {min_length} character is wanted",
    "string_too_long": "text of at most {max_length} characters is wanted",
    "int_type": "a whole number is wanted",
    "int_from_float": "a whole number is wanted",
    "float_type": "a number is wanted",
    "bool_type": "true or false is wanted",
    "list_type": "a list is wanted: write [a, b], or a line with '- ' for each item",
    "tuple_type": "a list is wanted: write [a, b], or a line with '- ' for each item",
    "dict_type": "a mapping is wanted: write {{key: value}}, or a line for each key",
    "model_type": "a mapping is wanted: write {{key: value}}, or a line for each key",
    "model_attributes_type": "a mapping is wanted: write {{key: value}}, or a line for each key",
    "greater_than_equal": "a number of at least {ge} is wanted",
    "less_than_equal": "a number of at most {le} is wanted",
    "literal_error": "{expected} is wanted",
    "too_short": "one of at least {min_length} is wanted",
    "too_long": "one of at most {max_length} is wanted",
}


def _problem(document: Document, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    loc = list(detail["loc"])
    key = loc[-1:] == ["[key]"]
    if key:
        loc.pop()
    kind = detail["type"]
    name = str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        keys = _keys(model, loc[:-1])
        hint = suggest(name, keys) or f": known here are {', '.join(sorted(keys))}"
        return document.problem(loc, f"unknown key {name!r}{hint}", key=True)
    if kind == "missing":
        return document.problem(loc[:-1], f"the key {name!r} is missing here: add it")
    subject = _subject(loc)
    if kind == "value_error":
        reason = str(detail["ctx"]["error"])
        message = reason if not loc or key or isinstance(loc[-1], int) else f"{subject}: {reason}"
        return document.problem(loc, message, key=key)
    expected = detail["msg"]
    if kind in _WANTED:
        expected = _WANTED[kind].format(**detail.get("ctx", {}))
    actual = describe(detail["input"])
    if kind in ("too_short", "too_long"):
        actual += f" of {len(detail['input'])}"
    return document.problem(loc, f"{subject} is {actual}, but {expected}", key=key)


def _keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Return the keys that the model standing at `loc` knows."""
    annotation: Any = model
    for step in loc:
        annotation = _inside(annotation, step)
    models = [part for part in _alternatives(annotation) if _is_model(part)]
    return [field.alias or name for part in models for name, field in part.model_fields.items()]


def _inside(annotation: Any, step: str | int) -> Any:
    """Return the annotation of what stands at `step` in something annotated so."""
    for part in _alternatives(annotation):
        if _is_model(part):
            fields = {field.alias or name: field for name, field in part.model_fields.items()}
            if step in fields:
                return fields[str(step)].annotation
        elif isinstance(step, int) and get_origin(part) in (list, tuple):
            return get_args(part)[0]
        elif isinstance(step, str) and get_origin(part) is dict:
            return get_args(part)[1]
    return None


def _alternatives(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [part for arg in get_args(annotation) for part in _alternatives(arg)]
    return [annotation]


def _is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)
