"""What a file that an external program wrote earlier gives beside its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from railgauge.plan.catalogue.argument_text import Value
from railgauge.plan.catalogue.output import ValueSource


@dataclass(frozen=True, slots=True)
class ImportedParameter:
    """Where a file has a parameter: at one of `sources`, the first that is there.

    What stands there is in `unit` ("": as a plan writes it), or a number with one of the suffixes
    `units`, which are factors, or one of `values`. `absent` is meant where nothing stands (None:
    the file has to say it).
    """

    sources: tuple[ValueSource, ...]
    unit: str = ""
    units: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    absent: Value | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """How a file is read.

    `cases` distinguishes its cases where it has several; those that agree in `together` were
    measured at the same time. `started_at` is in seconds since 1970. `same` must agree among a
    case's replications, as no parameter holds it. A file that has one of `refused` says more than a
    case can, and so does one where the number at a source of `zero`, by mode, is another.
    """

    cases: ValueSource | None = None
    together: ValueSource | None = None
    started_at: ValueSource | None = None
    client: ValueSource | None = None
    server: ValueSource | None = None
    same: Mapping[str, ValueSource] = field(default_factory=dict)
    refused: Mapping[str, ValueSource] = field(default_factory=dict)
    zero: Mapping[str, Mapping[str, ValueSource]] = field(default_factory=dict)
    parameters: Mapping[str, ImportedParameter] = field(default_factory=dict)
