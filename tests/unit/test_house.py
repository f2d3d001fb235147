"""The plan of the house: what `make house` counts and has reached stays so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.support import house


@pytest.fixture(scope="module")
def figures() -> dict[str, house.Figure]:
    return {figure.title: figure for figure in house.figures()}


@pytest.mark.parametrize(
    "title",
    [
        *("layers", "modules at the root", "imports upwards"),
        *("functions of more than 45 lines", "functions of more than 7 parameters"),
        *("refused names of assigned variables, %", "module names that stand twice"),
        *("class names that stand twice", "circles of Python files", "circles of C files"),
    ],
)
def test_the_house_keeps_its_plan(figures: dict[str, house.Figure], title: str) -> None:
    assert not figures[title].missed, figures[title]


def test_the_architectures_rooms_are_those_of_the_contract_from_the_top_down() -> None:
    text = (house.ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = [line.split("`")[1].rstrip("/") for line in text.splitlines() if line.startswith("| `")]
    contract = [room.partition(".")[2] for layer in house.layers() for room in layer]
    assert rooms[: len(contract)] == contract
    assert {f"{room}/" for room in contract} == {
        f"{path.name}/" for path in house.PACKAGE.iterdir() if (path / "__init__.py").exists()
    }


def test_the_architectures_stages_are_those_of_a_run() -> None:
    text = (house.ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = text.partition("| stage |")[2].partition("\n\n")[0]
    stages = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    source = (house.PACKAGE / "run/pipeline.py").read_text(encoding="utf-8")
    body = source.partition("def execute(")[2].partition("def read(")[0]
    called = re.findall(
        r"^    (?:\w+ = |return )?(?:keeping_going\()?(\w+)[,(]", body, re.MULTILINE
    )
    assert len(called) > 10
    assert stages == ["read", *called]


@pytest.mark.parametrize(
    ("arrows", "circles"),
    [
        ({"a": ["b"], "b": ["c"]}, []),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}, [["a", "b", "c"]]),
        ({"a": ["a"]}, []),
        ({}, []),
    ],
)
def test_circles_are_those_that_reach_one_another(
    arrows: dict[str, list[str]], circles: list[list[str]]
) -> None:
    assert house.circles(arrows) == circles


def test_names_are_refused_wherever_they_are_bound_but_in_one_line() -> None:
    tree = ast.parse("""
def told(one, rest):
    self.kept = [each for each in rest]
    for known in (each
                  for each in rest):
        pass
""")
    names = house.bound_names(Path("there.py"), tree)
    refused = {name.text for name in names if name.refused}
    assert refused == {"there", "told", "one", "kept", "known", "each"}
