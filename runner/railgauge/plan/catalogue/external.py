"""Reads the description of an external engine: a YAML file that says how to run a program.

rail-exec runs the program, so the command is an argument vector that no shell sees. What is kept of
it is what rail-exec measures and what stands in the program's output.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.suggestion import suggest
from railgauge.plan.catalogue.external_imports import ImportReader
from railgauge.plan.catalogue.external_model import ExternalEngine
from railgauge.plan.catalogue.external_parameters import ParameterReader
from railgauge.plan.catalogue.external_sources import SourceReader
from railgauge.plan.catalogue.imported import Imported
from railgauge.plan.catalogue.info import EngineInfo, MetricDescription, ParameterInfo
from railgauge.plan.catalogue.output import ValueSource
from railgauge.plan.catalogue.program import Item, Program, placeholders
from railgauge.plan.catalogue.template import split_template
from railgauge.plan.validation import validate
from railgauge.plan.yamlfile import Document, load

# Of rail-exec's own settings the one that plans may set too.
_SHARED = ("timeout",)
# How many ranks an MPI program has on each host, if it has a parameter of this name.
RANKS = "ranks_per_host"
# The file's text becomes an argument, for which Linux has 128 KiB; rail-exec takes a hundred files.
_LONGEST_FILE = 65_536
_LONGEST_FILES = 262_144
_MOST_FILES = 100
_COMMANDS = ("command", "client", "server")
_ENDS = ("server", "client", "port")


def load_external(path: Path, executor: EngineInfo, owners: Mapping[str, str]) -> EngineInfo:
    """Return the engine that `path` describes; FileProblems with everything that is wrong.

    `executor` is rail-exec; `owners` maps the names in use to who uses them.
    """
    document = load(path)
    described = validate(document, ExternalEngine)
    reader = _Reader(document, described, executor)
    reader.check_name(owners)
    reader.read_parameters()
    reader.check_commands()
    reader.check_files()
    program = reader.read_program()
    if reader.problems:
        raise FileProblems(reader.problems)
    return EngineInfo(
        name=described.name,
        version=executor.version,
        summary=described.summary,
        roles=_roles(described),
        parameters={**reader.parameters, **{name: executor.parameters[name] for name in _SHARED}},
        metrics={
            name: MetricDescription(
                name,
                metric.unit,
                metric.better,
                metric.help,
                modes=tuple(mode for mode in program.metric_sources[name] if mode),
                source=_sources_text(program.metric_sources[name]),
                optional=metric.optional,
                kind=metric.kind or "",
            )
            for name, metric in described.metrics.items()
        },
        program=program,
    )


def _roles(described: ExternalEngine) -> tuple[str, ...]:
    if described.mpi:
        return ("rank",)
    return ("server", "client") if described.server else ("client",)


def _sources_text(sources: Mapping[str, ValueSource | str]) -> str:
    modes: dict[str, list[str]] = {}
    for mode, source in sources.items():
        text = f"{source} of rail-exec" if isinstance(source, str) else str(source)
        modes.setdefault(text, []).append(mode)
    return "; ".join(
        f"{', '.join(of_text)}: {text}" if any(of_text) else text for text, of_text in modes.items()
    )


class _Reader:
    """Checks what the model alone can't: values, placeholders, references."""

    def __init__(self, document: Document, described: ExternalEngine, executor: EngineInfo) -> None:
        self.document = document
        self.described = described
        self.executor = executor
        self.parameters: dict[str, ParameterInfo] = {}
        self.problems: list[Problem] = []
        self._used: set[str] = set()

    def report(self, message: str, *loc: str | int, key: bool = False) -> None:
        """Note a mistake at `loc`."""
        self.problems.append(self.document.problem(loc, message, key=key))

    def check_name(self, owners: Mapping[str, str]) -> None:
        name = self.described.name
        if name in owners:
            message = f"an engine {name!r} is already there (from {owners[name]}): choose another"
            self.report(message, "name")

    def read_parameters(self) -> None:
        reader = ParameterReader(self.report, _SHARED)
        for name, written in self.described.parameters.items():
            self.parameters[name] = reader.read(name, written)
        reader.check_modes(self.parameters)

    def check_commands(self) -> None:
        described = self.described
        self._check_kind()
        main = "client" if described.server else "command"
        for key, items, further in (
            (main, getattr(described, main) or [], _ENDS if described.server else ()),
            ("server", described.server or [], _ENDS),
            ("launcher_arguments", described.launcher_arguments, ()),
            ("program", described.program or [], ()),
        ):
            for index, item in enumerate(items):
                for inner_loc, template in _templates(item):
                    self._check_template(template, (key, index, *inner_loc), further)
        for key in ("env", "files"):
            for name, template in getattr(described, key).items():
                self._check_template(template, (key, name), _ENDS if described.server else ())
        self._check_template(described.work_in, ("work_in",), ())
        for name, info in self.parameters.items():
            if name not in self._used and len(info.choices) != 1 and not self._is_ranks(name):
                message = f"{{{name}}} stands nowhere in {main!r}: add it, or leave this out"
                self.report(message, "parameters", name, key=True)

    def _is_ranks(self, name: str) -> bool:
        """Return whether it is the number of ranks, which is for the launcher."""
        if name != RANKS or not self.described.mpi:
            return False
        if self.parameters[name].type != "int":
            self.report(f"{RANKS!r} is a number of ranks: let its type be int", "parameters", name)
        return True

    def _check_kind(self) -> None:
        """See that it is either a command, or a server with its client."""
        described = self.described
        sided = described.server is not None
        if sided != (described.client is not None):
            present, missing = ("server", "client") if sided else ("client", "server")
            self.report(f"{present!r} needs {missing!r} beside it: add it", present, key=True)
        if sided == (described.command is not None):
            if sided:
                message = "'server' and 'client' take the place of 'command': leave it out"
                self.report(message, "command", key=True)
            elif described.client is None:
                self.report("the key 'command' is missing here: add it")
        for key, needed, fits in (
            ("ready", "'server'", sided),
            ("port", "'server'", sided),
            ("launcher", "'mpi'", described.mpi is not None),
            ("launcher_arguments", "'mpi'", described.mpi is not None),
        ):
            if getattr(described, key) and not fits:
                self.report(f"{key!r} belongs to {needed}: leave it out", key, key=True)
        if sided and described.mpi is not None:
            message = "an MPI program has no server: leave one of the two out"
            self.report(message, "mpi", key=True)

    def _check_template(
        self, template: str, loc: Sequence[str | int], further: Collection[str]
    ) -> None:
        """Check an argument, which may have the parameters' placeholders and the `further` ones."""
        try:
            parts = split_template(template)
        except ValueError as error:
            self.report(str(error), *loc)
            return
        for name in [text for text, is_name in parts if is_name]:
            self._used.add(name)
            allowed = {*self.parameters, *further}
            if name not in allowed:
                message = f"{{{name}}} is no parameter of this engine{suggest(name, allowed)}"
                self.report(message, *loc)
            elif self._is_argv(name) and (len(parts) > 1 or loc[0] not in _COMMANDS):
                message = f"{{{name}}} becomes several arguments: let it be an item of its own"
                self.report(message, *loc)
            elif name in self.parameters and self.parameters[name].modes and len(loc) < 3:
                message = f"{{{name}}} is left out in some modes: put it into a list of its own"
                self.report(message, *loc)

    def _is_argv(self, name: str) -> bool:
        return name in self.parameters and self.parameters[name].type == "argv"

    def check_files(self) -> None:
        described = self.described
        names = [(("files", name), name, True) for name in described.files]
        if described.output.file:
            names.append((("output", "file"), described.output.file, False))
        for loc, name, is_key in names:
            if "/" in name or name in ("", ".", "..") or not name.isprintable() or len(name) > 200:
                message = f"{name!r} is no file's name: it lies in the working folder, without '/'"
                self.report(message, *loc, key=is_key)
        for name, text in described.files.items():
            if len(text.encode()) > _LONGEST_FILE or "\0" in text:
                self.report(f"this text is longer than {_LONGEST_FILE} bytes", "files", name)
        if (
            len(described.files) > _MOST_FILES
            or sum(len(text.encode()) for text in described.files.values()) > _LONGEST_FILES
        ):
            message = (
                f"more than {_MOST_FILES} files or {_LONGEST_FILES} bytes: let the host have them"
            )
            self.report(message, "files", key=True)
        for name in described.env:
            if not name.isidentifier() or not name.isascii():
                self.report(f"{name!r} is no variable's name", "env", name, key=True)
        if described.server and not (
            described.ready or described.port or "port" in _names(described.server)
        ):
            message = (
                "nothing says when this server is ready: put {port} in it, or say its 'port' or "
                "what it writes when it is 'ready'"
            )
            self.report(message, "server")

    def read_program(self) -> Program:
        described = self.described
        mode = self.parameters.get("mode")
        sources = SourceReader(self.report, mode.choices if mode else (), self.executor.metrics)
        command = described.client if described.server else described.command
        return Program(
            command=_items(command or []),
            server=_items(described.server or []),
            ready=described.ready or "",
            port=described.port or 0,
            needs=self._needs(command or []),
            requires=tuple(described.requires or ()),
            version=tuple(described.version or ()),
            mpi=described.mpi or "",
            launcher=tuple(described.launcher or ()),
            launcher_arguments=_items(described.launcher_arguments),
            environment=described.env,
            files=described.files,
            output=described.output.file,
            work_in=described.work_in,
            metric_sources={name: sources.metric(name, m) for name, m in described.metrics.items()},
            failed=sources.source(described.failed, "failed"),
            confirmed=self._confirmed(sources),
            imported=self._imported(sources),
            overhead=described.overhead or 0.0,
        )

    def _needs(self, command: Sequence[str | list[str]]) -> tuple[str, ...]:
        """Return the programs that must be there: as said, or the first words of the commands."""
        described = self.described
        if described.program is not None:
            return tuple(described.program)
        first = [items[0] for items in (command, described.server or []) if items]
        return tuple(
            dict.fromkeys(
                item
                for item in first
                if isinstance(item, str) and not any(map(self._is_argv, _names([item])))
            )
        )

    def _confirmed(self, sources: SourceReader) -> dict[str, ValueSource]:
        confirmed: dict[str, ValueSource] = {}
        for name, written in self.described.confirmed.items():
            if name not in self.parameters:
                message = f"{name!r} is no parameter of this engine"
                hint = suggest(name, self.parameters)
                self.report(f"{message}{hint}", "confirmed", name, key=True)
            elif (source := sources.source(written, "confirmed", name)) is not None:
                confirmed[name] = source
        return confirmed

    def _imported(self, sources: SourceReader) -> Imported | None:
        written = self.described.imported
        if written is None:
            return None
        return ImportReader(self.report, sources, self.parameters).read(written)


def _templates(item: str | list[str]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield an item's texts, and where in it each stands."""
    if isinstance(item, str):
        yield (), item
    else:
        yield from (((index,), text) for index, text in enumerate(item))


def _items(items: Sequence[str | list[str]]) -> tuple[Item, ...]:
    return tuple(item if isinstance(item, str) else tuple(item) for item in items)


def _names(items: Sequence[str | list[str]]) -> set[str]:
    """Return the placeholders of these items, as far as they are sound."""
    names: set[str] = set()
    for item in items:
        for _, template in _templates(item):
            try:
                names.update(placeholders(template))
            except ValueError:
                continue
    return names
