"""docs/originals.md: whatever its tables name is there, and each of the originals' options is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import click
import pytest
import yaml

from railgauge.base.assets import folder
from railgauge.cli import cli
from railgauge.plan.catalogue import EngineInfo, load_catalogue
from railgauge.plan.model import Host, HostsFile, Plan, Test
from railgauge.report.definition.statistic import Number
from railgauge.report.figures.kinds import KINDS
from railgauge.store.models import Base

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "originals.md").read_text(encoding="utf-8")
ENGINES = load_catalogue().engines
# By section: our engines that stand for the original, and the original's options (its --help).
SECTIONS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "Hpcbench: udptest, tcptest": (
        ("udp", "tcp"),
        "-a -A -b -B -c -C -d -e -f -g -h -i -I -l -m -M -n -N -o -p -P -q -r -t -T -v",
    ),
    "Hpcbench: mpitest, and the OSU micro-benchmarks": (
        ("mpi",),
        "-a -A -c -e -i -m -n -o -P -r -t",
    ),
    "UDPmon": (("udp",), "-e -i -w"),
    "ZC and cyclesoak": (("tcp",), "-b -B -C -d -i -k -n -N -o -p -s -S -w"),
    "A machine's own benchmarks": (("cpu", "mem", "disk", "tcp", "udp"), ""),
}
# What follows an option and isn't a value of it: `--trace N`.
_PLACEHOLDER = re.compile(r"[A-Z][A-Za-z-]*")
_TABLES = "The papers' tables and figures"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: what was theirs, what is ours, what differs, and maybe more."""

    section: str
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.section.split(':')[0]}, {self.cells[0]}"

    @property
    def engines(self) -> Sequence[str]:
        """The engines that the row is about: `(udp)` behind an option says that it is udptest's."""
        engines = SECTIONS[self.section][0]
        own = [name for name in engines if self.cells[0].endswith(f"({name})")]
        return own or engines


def _rows() -> Iterator[Row]:
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        for line in re.findall(r"^\|(.*)\|$", section, flags=re.MULTILINE):
            cells = tuple(cell.strip() for cell in line.split(" | "))
            heading = cells[0] in ("theirs", "there")
            if not heading and not set(line) <= set("-| "):
                yield Row(title, cells)


ROWS = list(_rows())


def _spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@cache
def _launch_options() -> frozenset[str]:
    source = (ROOT / "engines" / "lib" / "arguments.c").read_text(encoding="utf-8")
    return frozenset(re.findall(r'\.name = "(\w+)", \.type', source))


def _option_problem(engine: EngineInfo, words: Sequence[str]) -> str:
    """Return what is wrong with `--name`, `--name VALUE` … for the engine, "" if nothing."""
    for place, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name = word.removeprefix("--").replace("-", "_")
        info = engine.parameters.get(name)
        if info is None and name not in _launch_options():
            return f"rail-{engine.name} has no {word}"
        value = words[place + 1] if place + 1 < len(words) else "--"
        if info is None or value.startswith("--") or _PLACEHOLDER.fullmatch(value):
            continue
        try:
            info.parse(yaml.safe_load(value) if info.type in ("bool", "int") else value)
        except ValueError as error:
            return f"rail-{engine.name} {word} {value}: {error}"
    return ""


@cache
def _words() -> frozenset[str]:
    """Return keys of plans and hosts files, tables of reports, statistics, tables of the store."""
    keys = {name for model in (Plan, Test, HostsFile, Host) for name in model.model_fields}
    definitions = [
        yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in folder("reports").glob("*.yaml")
    ]
    tables = {table["name"] for spec in definitions for table in spec.get("tables", ())}
    return frozenset(keys | tables | {*get_args(Number)} | {*Base.metadata.tables} | {*KINDS})


def _options(span: str) -> list[str]:
    """Return the words of a span that holds options of the row's engine, none if it doesn't."""
    words = re.sub(r"^(server|client)( HOST)? ", "", span).split()
    return words if words[0].startswith("--") else []


def _railgauge_problem(words: Sequence[str]) -> str:
    command: click.Command | None = cli
    for word in words:
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word)
    return "" if command is not None else f"there is no railgauge {' '.join(words)}"


@dataclass(slots=True)
class Reader:
    """Looks up what the spans of a row name, one after another."""

    engines: list[str]
    parameter: str = "mode"

    def problem(self, span: str) -> str:
        """Return what is wrong with a span, "" if nothing."""
        words = span.split()
        if span.endswith("()") or re.match("-[^-]", span):
            return ""  # Theirs.
        if match := re.fullmatch(r"rail-(\w+)", words[0]):
            return self._program(match[1], words[1:])
        if words[0] == "railgauge":
            return _railgauge_problem(words[1:])
        if words[0] in ("import", "export"):
            return _railgauge_problem(words)
        if options := _options(span):
            return self._anybodys(options)
        if span.endswith(".yaml"):
            return self._file(span)
        if ": " in span:
            return self._setting(yaml.safe_load(f"{{{span}}}"))
        return "" if self._is_word(span) else f"nothing is called {span}"

    def _program(self, name: str, words: Sequence[str]) -> str:
        if name in ENGINES:
            self.engines = [name]
            self._remember(words)
            return _option_problem(ENGINES[name], words)
        is_tool = (ROOT / "engines" / "tools" / f"{name}.c").exists() and not words
        return "" if is_tool else f"there is no rail-{name}"

    def _remember(self, words: Sequence[str]) -> None:
        names = [word.removeprefix("--") for word in words if word.startswith("--")]
        self.parameter = names[0].replace("-", "_") if names else self.parameter

    def _anybodys(self, words: Sequence[str]) -> str:
        """Options stand for an engine of the row, or for one of `railgauge report`."""
        self._remember(words)
        problems = [_option_problem(ENGINES[name], words) for name in self.engines]
        report = cli.get_command(click.Context(cli), "report")
        assert report is not None
        if words[0] in {text for option in report.params for text in option.opts}:
            return ""
        return "" if "" in problems else "; ".join(problems)

    def _file(self, span: str) -> str:
        kind, _, name = span.rpartition("/")
        matches = list(folder(kind or "reports").glob(name))
        return "" if matches else f"there is no {span}"

    def _setting(self, settings: Mapping[str, object]) -> str:
        for name, value in settings.items():
            values = value if isinstance(value, dict) else {"": value}
            info = ENGINES[self.engines[0]].parameters.get(name)
            if info is None and name not in Test.model_fields:
                return f"no plan has {name}"
            for written in values.values() if info is not None else ():
                assert info is not None
                info.parse(written)
        return ""

    def _is_word(self, word: str) -> bool:
        """A value of the parameter named last, a parameter or metric, an engine, a key of plans."""
        own = [ENGINES[name] for name in self.engines]
        choices = {
            choice
            for engine in own
            if (info := engine.parameters.get(self.parameter))
            for choice in info.choices
        }
        names = {name for engine in own for name in (*engine.parameters, *engine.metrics)}
        return word in choices | names | _words() | ENGINES.keys()


@pytest.mark.parametrize("row", [row for row in ROWS if row.section in SECTIONS], ids=str)
def test_what_a_row_names_is_there(row: Row) -> None:
    reader = Reader(list(row.engines))
    problems = [
        problem for text in row.cells[1:] for s in _spans(text) if (problem := reader.problem(s))
    ]
    assert problems == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.section in SECTIONS], ids=str)
def test_an_option_is_one_of_each_engine_that_its_row_is_about(row: Row) -> None:
    # Between slashes stands what is called otherwise in another engine.
    ways = [
        [words for s in _spans(way) if (words := _options(s))] for way in row.cells[1].split(" / ")
    ]
    if not any(ways) or len(row.engines) > 2:
        return
    for name in row.engines:
        problems = [
            "; ".join(_option_problem(ENGINES[name], words) for words in way) for way in ways
        ]
        assert any(not problem.strip("; ") for problem in problems), problems


@pytest.mark.parametrize("section", SECTIONS)
def test_each_option_of_an_original_has_a_row(section: str) -> None:
    named = {
        word
        for row in ROWS
        if row.section == section
        for text in _spans(row.cells[0])
        for word in text.split()
        if word.startswith("-")
    }
    assert set(SECTIONS[section][1].split()) <= named


def _tables() -> list[Row]:
    return [row for row in ROWS if row.section == _TABLES]


def test_every_table_of_a_section_is_read() -> None:
    assert {row.section for row in ROWS} == {*SECTIONS, _TABLES}


def _definitions(row: Row) -> list[str]:
    return re.findall(r"`([\w/-]+\.yaml)`", row.cells[1])


@pytest.mark.parametrize("row", [row for row in _tables() if len(row.cells) == 4], ids=str)
def test_a_papers_table_has_its_definition_and_its_tests(row: Row) -> None:
    reports = folder("reports")
    for name in _definitions(row):
        assert (reports / name).is_file() or (reports / "papers" / name).is_file(), name
    tests = ROOT / "tests" / "unit" / "report"
    assert all((tests / name).is_file() for name in _spans(row.cells[3]))
    # What is no definition's is shown as it was printed.
    assert bool(_definitions(row)) == bool(_spans(row.cells[3]))


def test_every_definition_of_hpcbench_stands_for_one_of_its_tables() -> None:
    named = {name for row in _tables() for name in _definitions(row)}
    shipped = {path.name for path in folder("reports").glob("hpcbench-*.yaml")}
    # Of tcptest there are no samples.
    assert shipped - {"hpcbench-tcp.yaml"} <= named


def test_the_gallery_shows_them_all_but_one() -> None:
    named = {Path(name).stem for row in _tables() for name in _definitions(row) if "/" not in name}
    pages = {path.stem for path in (ROOT / "docs" / "gallery").glob("*.md")}
    assert named - pages == {"zerocopy"}
