"""How often a case is measured: a number, or until its confidence interval is narrow enough.

`replications: {min: 10, max: 50, until: ci95 <= 1%, metric: throughput, span: 60s, budget: 5min}`
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from railgauge.base import units
from railgauge.plan.catalogue import EngineInfo, Value
from railgauge.plan.validation import StrictModel, describe

MOST = 1_000_000
# Fewer values have no 95 % interval: of a median by order statistics, of a mean by their spread.
_FEWEST = {"median": 6, "mean": 2}
_UNTIL = re.compile(r"ci95 *(?:\( *(median|mean) *\))? *<= *([0-9]{1,3}(?:\.[0-9]{1,6})?) *%")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) *%")
_LONGEST = 30 * 86400.0

Statistic = Literal["median", "mean"]


class Until(NamedTuple):
    """Both ends of the 95 % interval of the `statistic` are within `share` (of 1) of it."""

    statistic: Statistic
    share: float


def share_text(share: float) -> str:
    """Return a share as people write it: `1%`."""
    return f"{share * 100:.6g}%"


def _until(value: Any) -> Until:
    match = _UNTIL.fullmatch(value.strip()) if isinstance(value, str) else None
    share = float(match[2]) / 100 if match else 0.0
    if match is None or not 0 < share < 1:
        raise ValueError(
            f"{describe(value)} is no end: write 'ci95 <= 1%' for the median, which is the same as "
            "'ci95(median) <= 1%', or 'ci95(mean) <= 1%'"
        )
    return Until("mean" if match[1] == "mean" else "median", share)


def _time(value: Any) -> float:
    seconds = units.parse_time(value)
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"{value!r} is out of range: write more than 0s and at most 720h")
    return seconds


def _share(value: Any) -> float:
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None or not 0 < float(match[1]) < 100:
        raise ValueError(f"{describe(value)} is no share: write for example 2%")
    return float(match[1]) / 100


def _shares(value: Any) -> Any:
    """Return what one share for all metrics stands for."""
    if not isinstance(value, dict):
        _share(value)
    return value if isinstance(value, dict) else {"default": value}


def _unique(names: list[str]) -> list[str]:
    if not names:
        raise ValueError("the list is empty: name a metric, or leave the key out")
    return list(dict.fromkeys(names))


_TEXT = {"type": "string"}
Time = Annotated[float, BeforeValidator(_time), WithJsonSchema(_TEXT)]
Share = Annotated[float, BeforeValidator(_share), WithJsonSchema(_TEXT)]
Shares = Annotated[
    dict[str, Share], BeforeValidator(_shares, json_schema_input_type=Share | dict[str, Share])
]
"""A share for each metric; `default` is that of all that aren't named."""


class Replications(StrictModel):
    """From `min` to `max` replications, `until` the interval of the case's metrics is narrow.

    Without a `metric` it is the one that says most of what the case gives. The first and the last
    replication are at least `span` seconds apart; measuring a case takes at most `budget` seconds.
    """

    min: int = Field(default=10, ge=2, le=MOST)
    max: int = Field(default=50, ge=2, le=MOST)
    until: Annotated[
        Until,
        PlainValidator(_until),
        WithJsonSchema({"type": "string", "examples": ["ci95 <= 1%", "ci95(mean) <= 1%"]}),
    ]
    metric: Annotated[
        list[str],
        AfterValidator(_unique),
        BeforeValidator(
            lambda value: value if isinstance(value, list) else [value],
            json_schema_input_type=str | list[str],
        ),
    ] = Field(default=[])
    span: Time | None = None
    budget: Time | None = None

    @model_validator(mode="after")
    def _check_counts(self) -> Replications:
        fewest = _FEWEST[self.until.statistic]
        if self.min < fewest:
            raise ValueError(
                f"'min' is {self.min}, but fewer than {fewest} values have no 95 % interval of "
                f"their {self.until.statistic}: write at least {fewest}"
            )
        if self.max < self.min:
            raise ValueError(
                f"'max' is {self.max}, less than 'min', which is {self.min} if the plan says "
                "nothing else: write at least as much"
            )
        return self

    @property
    def rule(self) -> str:
        """What ends a case, but for its metrics: `ci95(median) <= 1%`."""
        return f"ci95({self.until.statistic}) <= {share_text(self.until.share)}"


def judged_metrics(rule: Replications, engine: EngineInfo, mode: Value | None) -> tuple[str, ...]:
    """Return the metrics whose intervals have to be narrow, of those that `engine` gives in `mode`.

    They are those that the rule names or, where it names none, the one that says most: the first
    headline, no share (of losses, mostly 0) and always there if possible, or, of an engine without
    any, its first metric of which more or less is better. Empty where nothing is left to be judged.
    """
    metrics = engine.metrics_in(mode)
    if rule.metric:
        names = {metric.name for metric in metrics}
        return tuple(name for name in rule.metric if name in names)
    headlines = [metric for metric in metrics if metric.headline]
    if headlines:
        first = min(
            headlines, key=lambda metric: (metric.kind == "share", metric.optional, metric.headline)
        )
        return (first.name,)
    directed = [metric.name for metric in metrics if metric.better in ("higher", "lower")]
    return tuple(directed[:1])


_Number = Annotated[int, Field(strict=True, ge=1, le=MOST)]
_NUMBER: TypeAdapter[int] = TypeAdapter(_Number)


def _number_or_rule(value: Any, _: ValidatorFunctionWrapHandler) -> int | Replications:
    """Read it as what it is: of a mistake in one the other has nothing to say."""
    if isinstance(value, dict | Replications):
        return Replications.model_validate(value)
    return _NUMBER.validate_python(value)


OrNumber = Annotated[_Number | Replications, WrapValidator(_number_or_rule)]
"""What stands under `replications`."""
