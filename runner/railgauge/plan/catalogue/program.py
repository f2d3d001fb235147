"""How an external program is run, and where its figures stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from railgauge.base.errors import EngineError
from railgauge.plan.catalogue.argument_text import Value
from railgauge.plan.catalogue.imported import Imported
from railgauge.plan.catalogue.output import ProgramOutput, ValueSource
from railgauge.plan.catalogue.template import split_arguments, split_template

# An argument, or several that are left out together when one of their placeholders is empty.
Item = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """The program of an external engine; all texts are templates with `{parameter}` in them.

    `command` is run to measure; with a `server` it is the client. The server is ready when it has
    written `ready` or, where that is empty, when the port listens: a free one, or `port` if that
    isn't 0. `needs` are the programs that a host must have; what else it must have is there if the
    command `requires` succeeds. `mpi` says what an MPI program measures (`hosts`, `links` or
    `groups`); a `launcher` of its own takes the place of mpirun.
    `files` are written into a working folder, from which the file `output` is read in place of
    standard output; with `work_in` it is made in that folder. `metric_sources` maps each metric to
    its source by mode ("": in all); text is the name of what rail-exec measures. `failed` is where
    the program says that it failed, `confirmed` where it says which values of parameters it took.
    `overhead` are the seconds that it usually takes beside its duration.
    """

    command: tuple[Item, ...]
    server: tuple[Item, ...] = ()
    ready: str = ""
    port: int = 0
    needs: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    mpi: str = ""
    launcher: tuple[str, ...] = ()
    launcher_arguments: tuple[Item, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    work_in: str = ""
    metric_sources: Mapping[str, Mapping[str, ValueSource | str]] = field(default_factory=dict)
    failed: ValueSource | None = None
    confirmed: Mapping[str, ValueSource] = field(default_factory=dict)
    imported: Imported | None = None
    overhead: float = 0.0

    def read(
        self,
        reported: Mapping[str, float],
        output: ProgramOutput,
        mode: Value | None,
        optional: frozenset[str] = frozenset(),
    ) -> dict[str, float]:
        """Return the metrics in `mode` from what rail-exec `reported` and the program wrote.

        EngineError `output` where one is missing that is not `optional`, `contract` where
        rail-exec's part is.
        """
        if reason := self.failure(output):
            raise EngineError("command-failed", f"the program says that it failed: {reason[:900]}")
        metrics: dict[str, float] = {}
        for name, by_mode in self.metric_sources.items():
            source = by_mode.get("", by_mode.get(str(mode)))
            if isinstance(source, str) and source not in reported:
                raise EngineError("contract", f"rail-exec did not report {source}")
            if source is None:
                continue
            value = reported[source] if isinstance(source, str) else output.number(source)
            if value is not None:
                metrics[name] = value
            elif name not in optional and isinstance(source, ValueSource):
                raise output.missing(name, source)
        return metrics

    def check_whole(self, output: ProgramOutput) -> None:
        """EngineError `output` if rail-exec lost the end of an output that has figures."""
        sources = chain.from_iterable(by_mode.values() for by_mode in self.metric_sources.values())
        if any(isinstance(source, ValueSource) for source in sources):
            output.check_whole()

    def failure(self, output: ProgramOutput) -> str:
        """Return what the program says of its failure, "" if of none (`false` and 0 are none)."""
        reason = None if self.failed is None else output.text(self.failed)
        return "" if reason is None or reason in ("false", "0") else reason

    def check_confirmed(self, output: ProgramOutput, written: Mapping[str, str]) -> None:
        """EngineError `output` if the program took another value of a parameter than `written`."""
        for name, source in self.confirmed.items():
            took = output.text(source)
            if took is None:
                raise output.missing(f"what it took for {name}", source)
            if took != written[name]:
                raise EngineError(
                    "output",
                    f"the program took {took[:100]} for {name}, not {written[name]} as it was "
                    "given, so that its figures are of another case",
                )


def expand(
    items: Sequence[Item], written: Mapping[str, str], argv_names: frozenset[str] = frozenset()
) -> list[str]:
    """Return the arguments that `items` come to with these values, as they are `written`.

    An item that is just the placeholder of one of `argv_names` becomes all its arguments.
    """
    arguments: list[str] = []
    for item in items:
        if isinstance(item, tuple) and any(
            not written[name] for part in item for name in placeholders(part)
        ):
            continue
        for template in (item,) if isinstance(item, str) else item:
            parts = split_template(template)
            if len(parts) == 1 and parts[0][1] and parts[0][0] in argv_names:
                arguments.extend(split_arguments(written[parts[0][0]]))
            else:
                arguments.append(fill(template, written))
    return arguments


def fill(template: str, written: Mapping[str, str]) -> str:
    """Return the text that `template` comes to with these values."""
    return "".join(written[text] if is_name else text for text, is_name in split_template(template))


def placeholders(template: str) -> list[str]:
    """Return the names in `template`; ValueError where a brace is misplaced."""
    return [text for text, is_name in split_template(template) if is_name]
