"""Checks how a description wants files to be read that its program wrote earlier."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.base.suggestion import suggest
from railgauge.base.units import DISPLAY
from railgauge.plan.catalogue.argument_text import Value
from railgauge.plan.catalogue.external_model import ExternalImport, ExternalSource, ImportedValue
from railgauge.plan.catalogue.external_sources import SourceReader
from railgauge.plan.catalogue.imported import Imported, ImportedParameter
from railgauge.plan.catalogue.info import ParameterInfo
from railgauge.plan.catalogue.output import ValueSource
from railgauge.plan.validation import Reporter

_HERE = "import"


class ImportReader:
    """Reads the section `import` of an engine with these `parameters`."""

    def __init__(
        self,
        report: Reporter,
        sources: SourceReader,
        parameters: Mapping[str, ParameterInfo],
    ) -> None:
        self._report = report
        self._sources = sources
        self._parameters = parameters

    def read(self, written: ExternalImport) -> Imported:
        """Return what it says; mistakes are reported."""
        return Imported(
            cases=self._source(written.cases, "each"),
            together=self._source(written.together, "together"),
            started_at=self._source(written.started_at, "started_at"),
            client=self._source(written.client, "client"),
            server=self._source(written.server, "server"),
            same=self._named(written.same, "same"),
            refused=self._named(written.refused, "refused"),
            zero={
                name: self._sources.sources(source, _HERE, "zero", name, by_mode=True)
                for name, source in written.zero.items()
            },
            parameters={
                name: parameter
                for name, imported in written.parameters.items()
                if (parameter := self._parameter(name, imported)) is not None
            },
        )

    def _source(self, written: ExternalSource | None, *loc: str) -> ValueSource | None:
        return self._sources.source(written, _HERE, *loc)

    def _named(self, written: Mapping[str, ExternalSource], key: str) -> dict[str, ValueSource]:
        sources = {name: self._source(value, key, name) for name, value in written.items()}
        return {name: source for name, source in sources.items() if source is not None}

    def _parameter(self, name: str, written: ImportedValue) -> ImportedParameter | None:
        loc = (_HERE, "parameters", name)
        info = self._parameters.get(name)
        if info is None:
            hint = suggest(name, self._parameters)
            self._report(f"{name!r} is no parameter of this engine{hint}", *loc, key=True)
            return None
        self._check_units(info, written)
        sources = (
            self._source(written, "parameters", name),
            self._source(written.otherwise, "parameters", name, "or"),
        )
        values = {
            text: value
            for text, scalar in written.values.items()
            if (value := self._value(info, scalar, *loc, "values", text)) is not None
        }
        absent = written.absent
        return ImportedParameter(
            sources=tuple(source for source in sources if source is not None),
            unit=written.unit,
            units=written.units,
            values=values,
            absent=None if absent is None else self._value(info, absent, *loc, "absent"),
        )

    def _check_units(self, info: ParameterInfo, written: ImportedValue) -> None:
        loc = (_HERE, "parameters", info.name)
        if written.unit and DISPLAY.get(written.unit, ("",))[0] != info.unit:
            self._report(f"{written.unit!r} is no unit of a {info.type}", *loc, "unit")
        if written.units and (written.unit or not info.unit):
            self._report("'units' is for numbers with a suffix of their own", *loc, "units")

    def _value(self, info: ParameterInfo, written: object, *loc: str) -> Value | None:
        try:
            return info.parse(written)
        except ValueError as error:
            self._report(str(error), *loc)
            return None
