"""Reads a YAML file strictly: every mistake at once, each with its line and column.

YAML as YAML 1.2's core schema reads it, less what surprises people: `off`, `on` and `10:30` stay
text, keys are text and never double, there are no tags and no merge keys, and aliases share one
value, so that they can't explode. The parser's events are used rather than PyYAML's own
composition, as that recurses as deeply as the file asks it to.
"""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from railgauge.base.errors import FileProblems, Problem

MAX_BYTES = 8 * 1024 * 1024
MAX_VALUES = 1_000_000
MAX_DEPTH = 100

# libyaml's parser is about twenty times faster than PyYAML's own; both give the same events.
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,29})")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,24}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
# What the YAML standard calls printable, less the tab.
_UNPRINTABLE = re.compile("[^\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")

_MISALIGNED = "this does not fit the lines above: keys of one mapping begin in one column"
# What the parser says -> what we say, and whether the mistake begins where its context does.
_SYNTAX: tuple[tuple[str, str, bool], ...] = (
    (
        "mapping values are not allowed",
        "a ':' can't stand here: put text that has one in quotes, or mend the indentation",
        False,
    ),
    ("cannot start any token", "text can't begin with this character: put it in quotes", False),
    ("unexpected end of stream", "this quote is never closed: close it", True),
    (
        "',' or ']'",
        "this '[' is not closed, or a ',' is missing: write [a, b], and a hostlist in quotes",
        True,
    ),
    ("',' or '}'", "this '{' is not closed, or a ',' is missing: write {a: 1, b: 2}", True),
    ("Unicode character", "an escape stands for no character (\\0 or half of a pair)", True),
    ("escape character", "unknown escape in double quotes: write \\\\ for a backslash", False),
    ("could not find expected ':'", "a key without ':': write 'key: value'", True),
    ("expected key", _MISALIGNED, False),
    ("expected <block end>", _MISALIGNED, False),
    (
        "expected '-' indicator",
        "this does not fit the list above: each of its items begins with '- ' in one column",
        False,
    ),
)


class _Node:
    """A value, where it stands, and for a list or mapping the nodes it consists of."""

    __slots__ = ("children", "column", "keys", "line", "open", "plain", "size", "value")

    def __init__(self, line: int, column: int, value: Any, *, plain: bool = False) -> None:
        self.line = line
        self.column = column
        self.value = value
        self.plain = plain  # A scalar without quotes.
        self.size = 1  # How many values this would be with every alias written out.
        self.open = False  # Not at its end yet, so that an alias to it would be endless.
        self.keys: dict[str, _Node] = {}
        self.children: Any = None  # dict[str, _Node] or list[_Node]


def _node_of(event: Any, value: Any, *, plain: bool = False) -> _Node:
    mark = event.start_mark
    return _Node(mark.line + 1, mark.column + 1, value, plain=plain)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A problem and the keys and indices that lead to it."""

    loc: tuple[str | int, ...]
    problem: Problem


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content as dicts, lists, text, numbers, booleans and None, and where each stands.

    `data` is without what its `mistakes` are about, so that the rest can be checked, too.
    """

    path: str
    data: Any
    text: str
    _root: _Node
    mistakes: tuple[Mistake, ...] = ()

    def problem(self, loc: Sequence[str | int], message: str, *, key: bool = False) -> Problem:
        """Return a problem at the value at `loc` (or at its key).

        Where nothing stands at `loc`, the nearest thing around it is meant.
        """
        node = self._root
        for step in loc:
            children = node.children
            if isinstance(children, dict) and step in children:
                node = node.keys[str(step)] if key and step == loc[-1] else children[step]
            elif isinstance(children, list) and isinstance(step, int) and step < len(children):
                node = children[step]
            else:
                break
        return Problem(self.path, node.line, node.column, message)

    def with_entries(
        self, key: str, entries: Mapping[str, tuple[str, Any]], mistakes: Iterable[Mistake]
    ) -> Document:
        """Return it with other entries under `key`, and more mistakes.

        Each entry has the name of the one that it was written as, where its problems stand.
        """
        root, node = copy(self._root), copy(self._root.children[key])
        written = {name: original for name, (original, _) in entries.items()}
        node.children = {name: node.children[original] for name, original in written.items()}
        node.keys = {name: node.keys[original] for name, original in written.items()}
        root.children = {**root.children, key: node}
        values = {name: value for name, (_, value) in entries.items()}
        return replace(
            self,
            data={**self.data, key: values},
            _root=root,
            mistakes=(*self.mistakes, *mistakes),
        )


def why_unreadable(path: Path) -> str:
    """Return why `path` can't be read as a file (`does not exist: …`), empty if it can."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return "is a folder: name the YAML file in it"
        if not stat.S_ISREG(mode):
            return "is not an ordinary file: save it to one first"
        with path.open("rb"):
            return ""
    except FileNotFoundError:
        return "does not exist: check the name and the folder it is looked for in"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"can't be read ({reason}): check the name and its permissions"


def load(path: Path) -> Document:
    """Return what the file says; FileProblems with every mistake of its YAML."""
    return loads(read_text(path), str(path))


def read_text(path: Path) -> str:
    """Return the text of a file; FileProblems where it is none, or too long."""
    name = str(path)
    if reason := why_unreadable(path):
        raise _fatal(name, 1, 1, f"this file {reason}")
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _fatal(name, 1, 1, f"this file can't be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise _fatal(name, 1, 1, f"more than {MAX_BYTES // 1024**2} MiB: split the file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after a byte order mark.
        start = error.start + len(content) - len(error.object)
        preceding = content[:start]
        line = preceding.count(b"\n") + 1
        column = len(preceding[preceding.rfind(b"\n") + 1 :].decode("utf-8-sig", "replace")) + 1
        message = (
            f"byte 0x{content[start]:02x} (number {start + 1}) is not UTF-8: "
            "save the file as UTF-8 text"
        )
        raise _fatal(name, line, column, message) from error


def document_of(path: str, text: str, data: Any, lines: Mapping[tuple[str, ...], int]) -> Document:
    """Return `data` that a file of another form says; `lines` say where parts of it stand."""

    def node_at(value: Any, loc: tuple[str, ...], line: int) -> _Node:
        node = _Node(lines.get(loc, line), 1, value)
        if isinstance(value, dict):
            node.children = {
                key: node_at(inner, (*loc, key), node.line) for key, inner in value.items()
            }
            node.keys = node.children
        elif isinstance(value, list):
            node.children = [node_at(inner, loc, node.line) for inner in value]
        return node

    return Document(path, data, text, node_at(data, (), 1))


def loads(text: str, name: str) -> Document:
    """Return what `text` says; FileProblems, under the file name `name`, with every mistake.

    A key that is there twice is a mistake of the document: the rest of it can be read.
    """
    problems = list(_character_problems(text, name))
    if problems:
        raise FileProblems(problems)
    builder = _Builder(name)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.YAMLError as error:
        doubles = [mistake.problem for mistake in builder.doubles]
        raise FileProblems([*builder.problems, *doubles, _syntax_problem(name, error)]) from error
    root = builder.root
    if root is None or (root.value is None and root.plain):
        raise _fatal(name, 1, 1, "the file is empty: it needs keys such as 'name: value'")
    if not isinstance(root.value, dict):
        builder.report(root, "the file must consist of keys such as 'name: value'")
    if builder.problems:
        raise FileProblems([*builder.problems, *(mistake.problem for mistake in builder.doubles)])
    return Document(name, root.value, text, root, tuple(builder.doubles))


class _Builder:
    """Builds nodes from the parser's events without recursion, and collects the mistakes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.doubles: list[Mistake] = []
        self.root: _Node | None = None
        self._stack: list[_Node] = []
        self._pending: list[_Node | None] = []  # For each open mapping the key without a value.
        self._anchors: dict[str, _Node] = {}
        self._documents = 0

    def report(self, node: _Node, message: str) -> None:
        self.problems.append(Problem(self.name, node.line, node.column, message))

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            node = _node_of(event, _resolve(event.value) if plain else event.value, plain=plain)
            self._check_text(node, event.value)
            self._register(event, node)
            self._add(node, event.value)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.DocumentStartEvent):
            self._start_document(event)

    def _start_document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            self._stop(_node_of(event, None), "a second document begins: put each in its own file")

    def _stop(self, node: _Node, message: str) -> None:
        self.report(node, message)
        raise FileProblems(self.problems)

    def _register(self, event: Any, node: _Node) -> None:
        if event.tag is not None:
            self.report(node, f"tags such as {event.tag!r} are not allowed: leave it out")
        if event.anchor is not None:
            self._anchors[event.anchor] = node

    def _check_text(self, node: _Node, text: str) -> None:
        # Escapes in double quotes can spell what no database or command line can hold.
        if _NO_CHARACTER.search(text):
            self.report(node, "an escape stands for no character (\\0 or half of a pair)")

    def _alias(self, event: Any) -> None:
        node = self._anchors.get(event.anchor)
        alias = _node_of(event, None)
        if node is None:
            self.report(alias, f"alias *{event.anchor} has no anchor &{event.anchor} before it")
        elif node.open:
            self.report(alias, f"alias *{event.anchor} stands inside what it stands for")
        else:
            alias = node
        text = node.value if node is not None and isinstance(node.value, str) else event.anchor
        self._add(alias, text)

    def _open(self, event: Any) -> None:
        mapping = isinstance(event, yaml.MappingStartEvent)
        node = _node_of(event, {} if mapping else [])
        node.children = {} if mapping else []
        node.open = True
        self._register(event, node)
        if len(self._stack) >= MAX_DEPTH:
            self._stop(node, f"more than {MAX_DEPTH} levels deep: a plan needs five or six")
        self._stack.append(node)
        self._pending.append(None)

    def _close(self) -> None:
        node = self._stack.pop()
        self._pending.pop()
        node.open = False
        self._add(node, "")

    def _add(self, node: _Node, text: str) -> None:
        if not self._stack:
            self.root = node
            return
        parent = self._stack[-1]
        if isinstance(parent.value, list):
            parent.value.append(node.value)
            parent.children.append(node)
        elif self._pending[-1] is None:
            self._check_key(node, text)
            self._pending[-1] = node
        else:
            self._insert(parent, self._pending[-1], node)
            self._pending[-1] = None
        parent.size += node.size
        if parent.size > MAX_VALUES:
            message = f"more than {MAX_VALUES:,} values with its aliases written out: use fewer"
            self._stop(node, message)

    def _check_key(self, key: _Node, text: str) -> None:
        if key.value == "<<" and key.plain:
            self.report(key, "merge keys ('<<') are not allowed: write the keys out")
        elif not isinstance(key.value, str) and text:
            self.report(key, f'a key is text: write "{text}", in quotes')
        elif not isinstance(key.value, str):
            self.report(key, "a key is text, not a list, a mapping or nothing")

    def _insert(self, parent: _Node, key: _Node, node: _Node) -> None:
        if not isinstance(key.value, str):
            return
        name = key.value
        if name in parent.keys:
            first = parent.keys[name].line
            message = f"key {name!r} is already on line {first}: keep one of the two"
            self.doubles.append(Mistake((), Problem(self.name, key.line, key.column, message)))
            return
        parent.value[name] = node.value
        parent.children[name] = node
        parent.keys[name] = key


def _resolve(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    # Digits with a leading zero stay text: octal to some readers and decimal to others.
    if _FLOAT.fullmatch(text) and not text.lstrip("+-").isdigit():
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _character_problems(text: str, name: str) -> Iterator[Problem]:
    match = _UNPRINTABLE.search(text)
    if match is None:
        return
    preceding = text[: match.start()]
    line, column = preceding.count("\n") + 1, match.start() - (preceding.rfind("\n") + 1) + 1
    if match[0] == "\t":
        more = sum("\t" in line for line in text.split("\n")) - 1
        rest = f" (so do {more} more lines)" if more else ""
        message = f"this line has a tab{rest}: write spaces, and \\t inside double quotes"
    else:
        message = f"character U+{ord(match[0]):04X} is not text: is this a binary file?"
    yield Problem(name, line, column, message)


def _syntax_problem(name: str, error: yaml.YAMLError) -> Problem:
    problem = getattr(error, "problem", None) or str(error)
    place = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    message = f"not YAML: {problem}"
    for phrase, advice, at_context in _SYNTAX:
        if phrase in problem:
            message = advice
            place = context if at_context and context is not None else place
            break
    if place is None:
        return Problem(name, 1, 1, message)
    return Problem(name, place.line + 1, place.column + 1, message)


def _fatal(name: str, line: int, column: int, message: str) -> FileProblems:
    return FileProblems([Problem(name, line, column, message)])
