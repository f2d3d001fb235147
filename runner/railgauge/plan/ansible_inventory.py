"""An Ansible inventory, INI or YAML, in place of a hosts file: its hosts, groups and connections.

Of variables `ansible_host`, `ansible_port`, `ansible_user` and `ansible_connection` count, of a
host before those of its groups, of a group before those of the groups that it is in. Test traffic
goes to `ansible_host`, too. Others are left alone, and so are files beside the inventory.
Source: Ansible's user guide, "How to build your inventory".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from railgauge.base.errors import FileProblems, Problem
from railgauge.base.hostlist import expand_hostlist, is_hostlist
from railgauge.plan.yamlfile import Document, document_of, read_text

_ALL, _UNGROUPED = "all", "ungrouped"
_SECTION = re.compile(r"\[([^\[\]:\s]+)(?::(children|vars|hosts))?\]\s*(?:[#;].*)?")
_RANGE = re.compile(r"\[([0-9]+):([0-9]+)\]")


@dataclass(slots=True)
class _Group:
    hosts: dict[str, int] = field(default_factory=dict)
    children: dict[str, int] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    line: int = 1


def is_inventory(document: Document) -> bool:
    """Return whether a YAML file is rather an inventory than a hosts file of ours."""
    data = document.data
    return isinstance(data, dict) and "hosts" not in data and isinstance(data.get(_ALL), dict)


class Inventory:
    """The groups and hosts of an inventory, and on which line each host stands first."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._groups: dict[str, _Group] = {_ALL: _Group()}
        self._variables: dict[str, dict[str, str]] = {}
        self._lines: dict[str, int] = {}
        self._problems: list[Problem] = []

    @classmethod
    def of_ini(cls, path: Path) -> Document:
        """Return the INI inventory at `path` as a hosts file; FileProblems with its mistakes."""
        inventory, text = cls(str(path)), read_text(path)
        inventory._read_ini(text)
        return inventory._document(text)

    @classmethod
    def of_yaml(cls, document: Document) -> Document:
        """Return the YAML inventory as a hosts file; FileProblems with its mistakes."""
        inventory = cls(document.path)
        inventory._problems += [mistake.problem for mistake in document.mistakes]
        for name, written in document.data.items():
            inventory._read_group(document, name, written, (name,))
        return inventory._document(document.text)

    def _report(self, line: int, message: str) -> None:
        self._problems.append(Problem(self._path, line, 1, message))

    def _group(self, name: str) -> _Group:
        return self._groups.setdefault(name, _Group())

    def _add_host(self, group: str, written: str, variables: dict[str, str], line: int) -> None:
        text = _RANGE.sub(r"[\1-\2]", written)
        try:
            names = expand_hostlist(text) if is_hostlist(text) else [text]
        except ValueError as error:
            self._report(line, f"{error}; of Ansible's ranges those of numbers are read: n[1:4]")
            return
        for name in names:
            self._lines.setdefault(name, line)
            self._group(group).hosts.setdefault(name, line)
            self._variables.setdefault(name, {}).update(variables)

    def _read_ini(self, text: str) -> None:
        group, kind = _UNGROUPED, "hosts"
        for number, line in enumerate(text.split("\n"), 1):
            stripped = line.strip()
            if not stripped or stripped[0] in "#;":
                continue
            if section := _SECTION.fullmatch(stripped):
                group, kind = section[1], section[2] or "hosts"
                self._group(group).line = number
            elif stripped.startswith("["):
                self._report(number, "write a section as [GROUP], [GROUP:children] or [GROUP:vars]")
            elif kind == "vars":
                name, _, value = stripped.partition("=")
                self._group(group).variables[name.strip()] = value.strip().strip("\"'")
            elif kind == "children":
                self._group(group).children[stripped.split()[0]] = number
            else:
                self._read_host(group, stripped, number)

    def _read_host(self, group: str, line: str, number: int) -> None:
        try:
            name, *words = shlex.split(line, comments=True)
        except ValueError as error:
            self._report(number, f"{error}: close the quote")
            return
        variables = dict(word.partition("=")[::2] for word in words)
        self._add_host(group, name, variables, number)

    def _read_group(
        self, document: Document, name: str, written: Any, loc: tuple[str | int, ...]
    ) -> None:
        group = self._group(name)
        group.line = document.problem(loc, "", key=True).line
        for key, value in written.items() if isinstance(written, dict) else ():
            line = document.problem((*loc, key), "", key=True).line
            if value is not None and not isinstance(value, dict):
                self._report(line, f"{key!r} of group {name!r} is no mapping: write one")
                continue
            for entry, inner in (value or {}).items():
                place = (*loc, key, entry)
                line = document.problem(place, "", key=True).line
                if key == "hosts":
                    self._add_host(name, entry, _texts(inner), line)
                elif key == "children":
                    group.children[entry] = line
                    self._read_group(document, entry, inner, place)
                elif key == "vars":
                    group.variables |= _texts({entry: inner})

    def _order(self) -> list[str]:
        """Return the groups, those that others are in first."""
        inner = {name: [*group.children] for name, group in self._groups.items()}
        inner[_ALL] += [name for name in inner if name != _ALL and name not in inner[_ALL]]
        try:
            return [*TopologicalSorter(inner).static_order()][::-1]
        except CycleError as error:
            circle = error.args[1]
            line = self._groups[circle[1]].children.get(circle[0], 1)
            self._report(line, f"group {circle[0]!r} contains itself: take it out of {circle[1]!r}")
            return []

    def _members(self, name: str) -> Iterator[str]:
        group = self._groups.get(name, _Group())
        yield from group.hosts
        for child in group.children:
            yield from self._members(child)

    def _document(self, text: str) -> Document:
        for name, group in [*self._groups.items()]:
            for child, line in group.children.items():
                if child not in self._groups:
                    self._report(line, f"group {name!r} contains {child!r}, which is no group here")
        order = self._order()
        if self._problems:
            raise FileProblems(self._problems)
        variables: dict[str, dict[str, str]] = {name: {} for name in self._lines}
        groups = {}
        for name in order:
            hosts = [*self._lines] if name == _ALL else [*dict.fromkeys(self._members(name))]
            for host in hosts:
                variables[host] |= self._groups[name].variables
            if name not in (_ALL, _UNGROUPED) and hosts:
                groups[name] = hosts
        entries = {
            name: _host(name, {**variables[name], **own}) for name, own in self._variables.items()
        }
        if not entries:
            raise FileProblems([Problem(self._path, 1, 1, "this inventory has no hosts")])
        data = {"hosts": entries, **({"groups": groups} if groups else {})}
        lines: dict[tuple[str, ...], int] = {
            ("hosts", name): line for name, line in self._lines.items()
        }
        lines |= {("groups", name): self._groups[name].line for name in groups}
        return document_of(self._path, text, data, lines)


def _texts(written: Any) -> dict[str, str]:
    pairs = written.items() if isinstance(written, dict) else ()
    return {name: str(value) for name, value in pairs if isinstance(value, str | int)}


def _host(name: str, variables: dict[str, str]) -> dict[str, str]:
    address = variables.get("ansible_host", name)
    if variables.get("ansible_connection") == "local":
        return {"address": address, "transport": "local"}
    user = f"{variables['ansible_user']}@" if "ansible_user" in variables else ""
    port = f":{variables['ansible_port']}" if "ansible_port" in variables else ""
    host = f"[{address}]" if ":" in address else address
    return {"address": address, "ssh": f"{user}{host}{port}"}
