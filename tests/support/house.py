"""The plan of the house in figures, each with its goal, and the names that nothing may have.

python -m tests.support.house            figures and goals; exit status 1 if one is missed
python -m tests.support.house --all      the same, with what stands behind each figure
python -m tests.support.house --names    refused names with their places; status 1 if any
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import grimp
import numpy
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from tests.support import ROOT

PACKAGE = ROOT / "runner/railgauge"
ENGINES = ROOT / "engines"
# Pronouns and participles say nothing of what a value is.
_WORDS = """
one ones each every some others both those these which what why who there here thing things told
said found known kept held asked wanted seen heard given taken meant got shown gone done made worth
ours theirs several nothing everything anything alike
"""
REFUSED = frozenset(_WORDS.split())
# Fields that are called as the keys that stand in users' files, or in what they read.
_KEYS = {
    "lab/testbed/testbed_model.py": "every",
    "report/definition/definition_model.py": "each",
    "report/definition/figure_model.py": "each",
    "report/tables/table.py": "asked",
    "store/records.py": "asked",
}
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Name:
    """A name that is bound somewhere: a variable, parameter, attribute, function, class."""

    path: Path
    line: int
    text: str
    assigned: bool = False

    @property
    def refused(self) -> bool:
        return self.text.strip("_") in REFUSED and not self._is_key

    @property
    def _is_key(self) -> bool:
        inside = self.path.is_relative_to(PACKAGE)
        return inside and _KEYS.get(str(self.path.relative_to(PACKAGE))) == self.text


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the house's figures; `most` is its goal, None where there is none."""

    title: str
    value: float
    most: float | None = None
    names: tuple[str, ...] = ()

    @property
    def missed(self) -> bool:
        return self.most is not None and self.value > self.most


def sources(root: Path = PACKAGE) -> dict[Path, ast.Module]:
    """Return the syntax tree of each Python file below a folder."""
    return {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.py"))
    }


def bound_names(path: Path, tree: ast.Module) -> Iterator[Name]:
    """Yield every name that a file binds and its own; not those of one-line comprehensions."""
    yield Name(path, 1, path.parent.name if path.stem == "__init__" else path.stem)
    short: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, _COMPREHENSION) and node.lineno == node.end_lineno:
            short.update(ast.walk(node))
    for node in ast.walk(tree):
        if node in short:
            continue
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            text = node.id if isinstance(node, ast.Name) else node.attr
            yield Name(path, node.lineno, text, assigned=isinstance(node, ast.Name))
        elif isinstance(node, ast.arg):
            yield Name(path, node.lineno, node.arg)
        elif isinstance(node, (*_FUNCTION, ast.ClassDef)):
            yield Name(path, node.lineno, node.name)


def layers() -> list[set[str]]:
    """Return the rooms of each layer of import-linter's contract, the uppermost first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and "railgauge" in contract.get("containers", ["railgauge"])
    )
    rooms: Iterable[str] = contract["layers"]
    return [{part.strip(" ()") for part in re.split("[|:]", layer)} for layer in rooms]


def circles(arrows: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of names that reach one another."""
    names = sorted({*arrows, *(target for targets in arrows.values() for target in targets)})
    index = {name: number for number, name in enumerate(names)}
    pairs = [(index[a], index[b]) for a, targets in arrows.items() for b in targets if a != b]
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    graph = csr_array((numpy.ones(len(pairs)), (rows, columns)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, connection="strong")
    groups: dict[int, list[str]] = {}
    for name, label in zip(names, labels, strict=True):
        groups.setdefault(int(label), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _includes() -> dict[str, set[str]]:
    """Return which of the engines' files includes which, a .c and its .h as one."""
    arrows: dict[str, set[str]] = {}
    for path in sorted(ENGINES.rglob("*.[ch]")):
        file = str(path.relative_to(ENGINES).with_suffix(""))
        targets = arrows.setdefault(file, set())
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M):
            places = (folder / name for folder in (path.parent, ENGINES, ENGINES / "lib"))
            for place in places:
                if place.is_file():
                    relative = place.resolve().relative_to(ENGINES)
                    targets.add(str(relative.with_suffix("")))
                    break
    return arrows


def _twice(names: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    places: dict[str, set[str]] = {}
    for name, place in names:
        places.setdefault(name, set()).add(place)
    return tuple(
        f"{name}: {', '.join(sorted(where))}"
        for name, where in sorted(places.items())
        if len(where) > 1
    )


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in parameters)


def figures() -> list[Figure]:
    """Measure the house."""
    trees = sources()
    functions = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}": node
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTION)
    }
    lengths = {name: (node.end_lineno or 0) - node.lineno + 1 for name, node in functions.items()}
    parameters = {name: _parameters(node) for name, node in functions.items()}
    bound = [name for path, tree in trees.items() for name in bound_names(path, tree)]
    assigned = [name for name in bound if name.assigned]
    refused = [name for name in assigned if name.refused]
    classes = _twice(
        (node.name, str(path.relative_to(PACKAGE)))
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    modules = _twice(
        (path.stem, str(path.relative_to(PACKAGE))) for path in trees if path.stem != "__init__"
    )
    graph = grimp.build_graph("railgauge", exclude_type_checking_imports=True)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    loose = [
        path.name for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", "__main__")
    ]
    floor = {room: number for number, rooms in enumerate(layers()) for room in rooms}
    upwards = [
        f"{name} -> {target}"
        for name, targets in imports.items()
        for target in targets
        if floor.get(_room(target), 99) < floor.get(_room(name), -1)
    ]
    long = tuple(f"{n} lines: {name}" for name, n in lengths.items() if n > 45)
    wide = tuple(f"{n} parameters: {name}" for name, n in parameters.items() if n > 7)
    python = circles(imports)
    c = circles(_includes())
    return [
        Figure(
            "rooms", len([path for path in PACKAGE.iterdir() if (path / "__init__.py").exists()])
        ),
        Figure("folders", len({path.parent for path in trees})),
        Figure("layers", len(layers()), 14),
        Figure("modules at the root", len(loose), 0, tuple(loose)),
        Figure("Python files", len(trees)),
        Figure("Python lines", sum(len(path.read_text().splitlines()) for path in trees), 48_000),
        Figure("functions, median lines", statistics.median(lengths.values())),
        Figure("functions of more than 45 lines", len(long), 0, long),
        Figure("functions of more than 7 parameters", len(wide), 0, wide),
        Figure(
            "refused names of assigned variables, %",
            round(100 * len(refused) / len(assigned), 2),
            0.5,
            tuple(
                f"{n} x {text}" for text, n in Counter(name.text for name in refused).most_common()
            ),
        ),
        Figure("module names that stand twice", len(modules), 0, modules),
        Figure("class names that stand twice", len(classes), 0, classes),
        Figure("imports upwards", len(upwards), 0, tuple(upwards)),
        Figure("circles of Python files", len(python), 0, tuple(map(" ".join, python))),
        Figure("circles of C files", len(c), 0, tuple(map(" ".join, c))),
    ]


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--names", action="store_true", help="list refused names, with their places"
    )
    parser.add_argument("folders", nargs="*", type=Path, help="with --names: of these alone")
    parser.add_argument("--all", action="store_true", help="name what stands behind each figure")
    options = parser.parse_args()
    if options.names:
        refused = [
            name
            for folder in options.folders or [PACKAGE]
            for path, tree in sources(folder.resolve()).items()
            for name in bound_names(path, tree)
            if name.refused
        ]
        for name in refused:
            print(
                f"{name.path.relative_to(ROOT)}:{name.line}: {name.text} says nothing of what it is"
            )
        return 1 if refused else 0
    house = figures()
    print(f"{'':<40}{'now':>9}{'at most':>9}")
    for figure in house:
        most = "" if figure.most is None else f"{figure.most:,}"
        print(f"{figure.title:<40}{figure.value:>9,}{most:>9}{'  missed' if figure.missed else ''}")
        for name in figure.names if options.all else ():
            print(f"    {name}")
    return 1 if any(figure.missed for figure in house) else 0


if __name__ == "__main__":
    sys.exit(main())
