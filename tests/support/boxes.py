"""Testbeds of this test run alone: their names carry our process id."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.support import command_line

_numbers = itertools.count()


_PLAN = """\
railgauge: 1
name: box
hosts_file: {hosts_file}
tests:
  - {{name: latency, engine: udp, replications: 2, set: {{mode: latency, count: 20, datagram: 64}}}}
  - name: stream
    engine: tcp
    replications: 2
    # What a receiver without CPU has room for ends before the stream does.
    set: {{duration: 200ms, message: 100KiB, sockbuf: 200KiB, congestion: reno}}
"""


def measured(box: Box) -> dict[tuple[str, str], list[float]]:
    """Run a short plan on the testbed; return each link's and metric's values."""
    plan, database = box.folder / "plan.yaml", box.folder / "railgauge.db"
    plan.write_text(_PLAN.format(hosts_file=box.hosts_file))
    completed = box.run("run", str(plan), "--db", str(database))
    assert completed.returncode == 0, completed.stdout + completed.stderr
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT link, metric, value FROM measurement").fetchall()
    values: dict[tuple[str, str], list[float]] = {}
    for link, metric, value in rows:
        values.setdefault((link, metric), []).append(value)
    return values


def new_name() -> str:
    """Return a testbed's name that no other test has."""
    return f"t{os.getpid()}_{next(_numbers)}"


@dataclass
class Box:
    """A testbed's file, and the command line that builds and removes it."""

    name: str
    folder: Path
    railgauge: tuple[str, ...] = command_line.COMMAND
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Its file."""
        return self.folder / f"{self.name}.yaml"

    @property
    def hosts_file(self) -> Path:
        """Where `up` is told to write its hosts file."""
        return self.folder / f"{self.name}.hosts.yaml"

    def namespace(self, host: str) -> str:
        """Return a host's namespace."""
        return f"rg-{self.name}-{host}"

    def write(self, text: str) -> None:
        """Write its file: `text` after the version and the name."""
        self.file.write_text(f"railgauge_testbed: 1\nname: {self.name}\n{text}")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run railgauge to its end."""
        return command_line.run(
            [*self.railgauge, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **self.environment},
        )

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `railgauge testbed` to its end."""
        return self.run("testbed", *arguments)

    def up(self) -> dict[str, Any]:
        """Build it and return what the hosts file says."""
        completed = self.command("up", str(self.file), "--hosts-out", str(self.hosts_file))
        assert completed.returncode == 0, completed.stderr
        content = yaml.safe_load(self.hosts_file.read_text())
        assert isinstance(content, dict)
        return content

    def down(self) -> subprocess.CompletedProcess[str]:
        """Remove it."""
        return self.command("down", self.name)


def traces(name: str) -> list[str]:
    """Return what there is on this machine that carries a testbed's name."""
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    leftovers = [line for line in namespaces.splitlines() if name in line]
    leftovers += [str(path) for path in Path("/run/railgauge").glob("*") if path.name == name]
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "environ").read_bytes() + (path / "cmdline").read_bytes()
        except OSError:
            continue
        if f"rg-{name}-".encode() in words:
            leftovers.append(str(path))
    return leftovers
