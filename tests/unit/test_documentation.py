"""What the documentation names is there: shipped plans, reports, commands and their options."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.support import ROOT

from railgauge.cli import cli
from railgauge.plan.model import Plan, Test

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "gallery" not in path.parts),
]
# What ships beside the pages, to be copied and read.
EXAMPLES = [
    *sorted(path for path in (ROOT / "docs/nightly").iterdir() if path not in PAGES),
    *sorted((ROOT / "docs/examples").glob("*.py")),
    *(
        path
        for folder in ("plans", "reports", "engines/external")
        for path in sorted((ROOT / folder).rglob("*.yaml"))
    ),
]
_FENCED = re.compile(r"^```[\w{}-]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CALL = re.compile(
    r"(?:^|[\s(;|&])(?:[\w./~-]*bin/|\./)?(railgauge|rail-[a-z]+)((?:[ \t]+[^\s|;&>#)]+)*)"
)
_OPTION = re.compile(r"--[a-z][a-z0-9_-]*")
# Programs report and compare: they don't tell, nor hold anything against anybody.
_NOT_PLAIN = re.compile(
    r"\b(?:told|tell|tells|telling|besides|(?:held|holds?|holding)\s+(?:\w+\s+)?against)\b",
    re.IGNORECASE,
)


def code(page: Path) -> Iterator[str]:
    """Yield the lines of code of a page: of blocks, indented ones too, and of spans in a line."""
    text = page.read_text(encoding="utf-8")
    blocks = [match[1] for match in _FENCED.finditer(text)]
    rest = _FENCED.sub("", text)
    blocks.append("\n".join(line for line in rest.splitlines() if line.startswith("    ")))
    for block in blocks:
        yield from block.replace("\\\n", " ").splitlines()
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", rest))


def calls(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each call of a program of ours: its name and its arguments."""
    for line in code(page):
        for program, arguments in _CALL.findall(line):
            yield program, arguments.split()


def declared_options(*folders: str) -> set[str]:
    """Return the long options that the C sources in these folders of engines/ know."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in folders
        for path in (ROOT / "engines" / folder).rglob("*.[ch]")
    ]
    names = re.findall(r'"--([a-z][a-z0-9_-]*)|\.name = "([a-z][a-z0-9_-]*)"', "".join(texts))
    return {f"--{literal or field}" for literal, field in names}


def options_of(command: click.Command) -> set[str]:
    names = {name for parameter in command.params for name in parameter.opts}
    names |= {name for parameter in command.params for name in parameter.secondary_opts}
    return {*names, "--help"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_in_the_documentation_are_there(page: Path) -> None:
    engines = json.loads((ROOT / "schema/engines.json").read_text(encoding="utf-8"))["engines"]
    shared = declared_options("lib", "tools")
    wrong = []
    for program, arguments in calls(page):
        if program == "railgauge":
            wrong += wrong_words(arguments)
            continue
        name = program.removeprefix("rail-")
        engine = engines.get(name)
        if engine is None and not (ROOT / "engines/tools" / f"{name}.c").exists():
            wrong.append(program)
            continue
        parameters = engine["parameters"] if engine is not None else []
        declared = shared | {f"--{parameter['name']}" for parameter in parameters}
        used = {option for word in arguments for option in _OPTION.findall(word)[:1]}
        wrong += [f"{program} {option}" for option in sorted(used - declared)]
    assert not wrong


@pytest.mark.parametrize("page", PAGES + EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_technical_words(page: Path) -> None:
    assert _NOT_PLAIN.findall(page.read_text(encoding="utf-8")) == []


def test_help_is_in_plain_technical_words() -> None:
    texts = dict(help_of(cli, "railgauge"))
    assert len(texts) > 50
    for engine, description in json.loads((ROOT / "schema/engines.json").read_text())[
        "engines"
    ].items():
        for entry in (*description["parameters"], *description["metrics"]):
            texts[f"rail-{engine} {entry['name']}"] = entry["help"]
    assert [name for name, text in texts.items() if _NOT_PLAIN.search(text)] == []


def help_of(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    """Yield the help texts of a command, its options and its commands, each with its name."""
    yield path, command.help or ""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{path} {parameter.opts[0]}", parameter.help or ""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            following = command.get_command(context, name)
            assert following is not None
            yield from help_of(following, f"{path} {name}")


def wrong_words(arguments: list[str]) -> list[str]:
    """Return what a call of railgauge names that isn't there."""
    command: click.Command = cli
    path = ["railgauge"]
    words = iter(arguments)
    for word in words:
        if not isinstance(command, click.Group) or word.startswith("-"):
            break
        names = word.replace("\\", "").strip(",.:").split("|")
        context = click.Context(command)
        for name in names:
            if (
                re.fullmatch(r"[a-z][a-z0-9-]*", name)
                and command.get_command(context, name) is None
            ):
                return [f"{' '.join(path)} {name}"]
        following = command.get_command(context, names[0])
        if following is None:
            return []  # COMMAND, X: a placeholder
        command, path = following, [*path, names[0]]
    used = {option for word in arguments for option in _OPTION.findall(word)[:1]}
    return [f"{' '.join(path)} {option}" for option in sorted(used - options_of(command))]


def test_what_is_not_there_is_found() -> None:
    assert wrong_words(["run", "plan.yaml", "--keep-going"]) == []
    assert wrong_words(["export", "csv|json", "--out", "F"]) == []
    assert wrong_words(["rum", "plan.yaml"]) == ["railgauge rum"]
    assert wrong_words(["baseline", "sett", "a"]) == ["railgauge baseline sett"]
    assert wrong_words(["run", "plan.yaml", "--keep-on"]) == ["railgauge run --keep-on"]
    assert "--json" in declared_options("lib", "tools")


def table_of_plans() -> list[list[str]]:
    """Return the rows of docs/plans.md's table of what ships, by cell the files in it."""
    text = (ROOT / "docs/plans.md").read_text(encoding="utf-8")
    section = text[text.index("## Plans that come with railgauge") :]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("|")]
    return [[*map(str.strip, row)] for row in rows[2:]]


def test_every_shipped_plan_and_report_is_in_the_table_of_plans_and_nothing_else() -> None:
    rows = table_of_plans()
    plans, reports = (
        [name for row in rows for name in re.findall(r"`([\w-]+\.yaml)`", row[place])]
        for place in (0, 2)
    )
    assert sorted(plans) == sorted(path.name for path in (ROOT / "plans").glob("*.yaml"))
    assert set(reports) == {path.name for path in (ROOT / "reports").glob("*.yaml")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_shipped_files_that_the_documentation_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w/.-])((?:plans|reports)/(?:[\w-]+/)*[\w-]+\.yaml)", text))
    # What stands for the reader's own.
    examples = {"plans/fabric.yaml", "reports/X.yaml", "reports/NAME.yaml"}
    examples |= {"reports/papers/NAME.yaml"}
    assert not {name for name in named - examples if not (ROOT / name).exists()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_tables_rows_have_as_many_cells_as_its_head(page: Path) -> None:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, *rows = (len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines())
        assert rows == [head] * len(rows), table


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_functions_that_the_documentation_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = {*re.findall(r"\brailgauge(?:\.[a-z_]+){2,}(?=\W)", text)}
    names |= {f"railgauge.store.{name}" for name in re.findall(r"\bStore\.[a-z_]+", text)}
    assert [name for name in sorted(names) if not is_there(name)] == []


def is_there(name: str) -> bool:
    """Return whether a dotted name is a module of ours, or something in one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def first_cells(page: str) -> str:
    """Return what the first cells of a page's tables hold."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    return " ".join(line.split("|")[1] for line in lines if line.startswith("|"))


@pytest.mark.parametrize("model", [Plan, Test])
def test_the_page_on_plans_has_a_row_for_each_key(model: type[Plan | Test]) -> None:
    cells = first_cells("plans.md")
    assert [name for name in model.model_fields if f"`{name}`" not in cells] == []


def test_the_page_on_testbeds_names_each_one_that_ships() -> None:
    text = (ROOT / "docs/testbed.md").read_text(encoding="utf-8")
    files = [path.name for path in (ROOT / "plans/testbeds").glob("*.yaml")]
    assert [name for name in files if f"{name}`" not in text] == []


def test_the_page_on_other_programs_names_the_variables_that_they_get() -> None:
    source = (ROOT / "engines/tools/exec/command.c").read_text(encoding="utf-8")
    usual = re.findall(r'#define USUAL "(.*)"', source)[0].split(",")
    text = (ROOT / "docs/external.md").read_text(encoding="utf-8")
    assert len(usual) > 5
    assert [name for name in usual if not re.search(rf"\b{re.escape(name)}[ ,]", text)] == []
