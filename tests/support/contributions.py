"""Changes that contributors make, as data: what is written into which file, for a whole new part.

Each does what one row of the table in CONTRIBUTING.md is about, in as few lines as it takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import ROOT

PACKAGE = "runner/railgauge"
# Of a file that is there: a text, and what goes in front of it.
Insertions = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What is added for the table's row `adds`; `names` are what its NAME and the like stand for.

    `files` are new ones, as their texts, and others, as what goes in. `generated` are the files of
    schema/ that `make schema` changes, and the word that they have afterwards.
    """

    adds: str
    names: Mapping[str, str]
    files: Mapping[str, str | Insertions]
    generated: Sequence[str] = ()
    word: str = ""
    # Where docs list such parts: nothing runs them.
    docs: Mapping[str, Insertions] = field(default_factory=dict)

    def write(self, root: Path) -> None:
        """Make the change in the checkout `root`."""
        for path, content in {**self.files, **self.docs}.items():
            file = root / path
            text = content
            if not isinstance(content, str):
                text = file.read_text(encoding="utf-8")
                for place, addition in content.items():
                    assert text.count(place) == 1, f"{path}: {place!r} is there not once"
                    text = text.replace(place, addition + place)
            file.write_text(str(text), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: what it adds, the files that it names, and whether `make schema` does."""

    adds: str
    paths: tuple[str, ...]
    schema: bool

    def named(self, names: Mapping[str, str]) -> set[str]:
        """Return the files that the row names, with `names` in them."""
        paths = set()
        for path in self.paths:
            for placeholder, name in names.items():
                path = re.sub(rf"\b{placeholder}\b", name, path)
            paths.add(path)
        return paths


def rows() -> dict[str, Row]:
    """Return the rows of CONTRIBUTING.md's table; paths are from the checkout's root.

    In the table those in the package begin with a room.
    """
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## How many files a change touches\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    return {row.adds: row for row in map(_row, table)}


def _row(line: str) -> Row:
    adds, *cells = (cell.strip() for cell in line.strip("|").split("|"))
    quoted = [text for cell in cells for text in re.findall(r"`([^`]+)`", cell)]
    paths = [text for text in quoted if "/" in text]
    return Row(adds, tuple(map(_from_root, paths)), "make schema" in quoted)


def _from_root(path: str) -> str:
    return path if (ROOT / path.partition("/")[0]).exists() else f"{PACKAGE}/{path}"


METRIC = Contribution(
    adds="a parameter or metric of one of our engines",
    names={"NAME": "tcp", "MODE": "stream"},
    files={
        "engines/tcp.c": {
            '    {"sent_bytes", "B", "neither", FLOWS,': (
                '    {"handshakes", "", "neither", "stream", "connections opened for the data",\n'
                '     "handshakes", 1, 0, .kind = KIND_COUNT, .headline = 5},\n'
            )
        },
        "engines/tcp/stream.c": {
            "    take_received(client, senders, reply, result);\n": (
                '    result_set(result, "handshakes", (double)connections_of(client->launch));\n'
            )
        },
    },
    generated=["engines.json"],
    word="handshakes",
)

FIGURE = Contribution(
    adds="a kind of figure",
    names={"NAME": "staircase"},
    files={
        f"{PACKAGE}/report/figures/kinds/staircase.py": '''\
"""The replications of a case in their order, as steps."""

import numpy as np

from railgauge.report.figures.figure import Content, PlottedSeries, Scale
from railgauge.report.figures.kinds import valued
from railgauge.report.figures.kinds.kind import AxisRules, Kind


def _draw(figure, store, lines, axis_of):
    drawn = [(line.label, valued.only_one(figure, line.label, line.members)) for line in lines]
    values = np.concatenate([series.values for _, series in drawn])
    y, per_y = valued.value_scale(figure, figure.y, drawn[0][1].unit, values)
    return Content(
        style="steps",
        x=Scale("Replication"),
        y=y,
        plotted=tuple(
            PlottedSeries(label, np.column_stack([np.arange(len(s.values)), s.values / per_y]))
            for label, s in drawn
        ),
        summary=tuple(f"{label}: {len(series.values)} steps." for label, series in drawn),
        header=("series", "value"),
        records=tuple((label, value) for label, s in drawn for value in s.values.tolist()),
    )


KIND = Kind(
    x=AxisRules(),
    y=AxisRules(metric="values"),
    most=9,
    absent=valued.ABSENT,
    members=valued.members,
    draw=_draw,
)
''',
        f"{PACKAGE}/report/figures/kinds/__init__.py": {
            "    replications,\n": "    staircase,\n",
            '    "replications":': '    "staircase": staircase.KIND,\n',
        },
    },
    docs={"docs/figures.md": {"| `arrival` |": "| `staircase` | replication | value | 9 |\n"}},
)

TRANSPORT = Contribution(
    adds="a transport",
    names={"NAME": "prefix"},
    files={
        f"{PACKAGE}/hosts/transport/prefix.py": '''\
"""Programs behind a command that starts them somewhere else, such as `kubectl exec -i POD --`."""

from railgauge.hosts.transport.archive import archive, unpack_command, write_failed
from railgauge.hosts.transport.local import LocalTransport


class PrefixTransport(LocalTransport):
    """Whatever host the command `prefix` reaches, under the name that the plan gives it."""

    def put(self, files, directory):
        """See `Transport.put`: one archive, unpacked by the tar over there."""
        process = self.start(unpack_command(directory))
        process.send(archive(files))
        process.close_stdin()
        ended = process.wait()
        if ended.status != 0:
            raise write_failed(self.host, directory, ended)
''',
        f"{PACKAGE}/hosts/transport/registry.py": {
            "from railgauge.schedulers import SCHEDULERS": (
                "from railgauge.hosts.transport.prefix import PrefixTransport\n"
            ),
            '    "ssh": TransportKind(': (
                '    "prefix": TransportKind('
                "lambda name, host: PrefixTransport(name, host.prefix)),\n"
            ),
        },
        f"{PACKAGE}/plan/model.py": {
            '"netns")\n': '"prefix", ',
            "    holder: Annotated[int, Field(ge=1)]": "    prefix: list[str] | None = None\n",
            "        if self.netns is not None:\n            owner": (
                '        if self.prefix is not None:\n            return f"prefix {self.prefix}"\n'
            ),
        },
        "tests/unit/test_transport_registry.py": {
            '    ({"transport": "slurm",': '    ({"prefix": ["env"]}, "PrefixTransport"),\n'
        },
    },
    generated=["hosts.schema.json", "plan.schema.json"],
    word='"prefix"',
    docs={"docs/hosts.md": {"| `transport: local` |": "| `prefix` | a command's words |\n"}},
)

FACT = Contribution(
    adds="a fact",
    names={"NAME": "entropy"},
    files={
        f"{PACKAGE}/hosts/facts/entropy.py": '''\
"""The kernel's pool of randomness."""

from railgauge.hosts.facts.source import FactSource, first_lines

_PATHS = {"entropy_pool": "/proc/sys/kernel/random/poolsize"}


def parse(files):
    """Return `entropy_pool`, in bits."""
    return first_lines(files, _PATHS)


SOURCE = FactSource(tuple(_PATHS.values()), parse)
''',
        f"{PACKAGE}/hosts/facts/__init__.py": {
            "    ethtool,\n    fabric,\n    frequency,\n": "    entropy,\n",
            "    clock,\n    scheduling,\n": "    entropy,\n",
        },
    },
    docs={"docs/facts.md": {"| `clocksource`,": "| `entropy_pool` | bits of it | /proc |\n"}},
)

STATISTIC = Contribution(
    adds="a statistic of tables",
    names={},
    files={
        f"{PACKAGE}/stats/summary.py": {
            "\n    @property\n    def interval(": "    top_decile: float\n",
            "    )\n\n\ndef _median(": "        top_decile=ordered[-(n // 10) - 1],\n",
        },
        f"{PACKAGE}/stats/summaries.py": {
            "    ]\n    for fitting, row in": "        ordered[:, -(n // 10) - 1].tolist(),\n"
        },
        f"{PACKAGE}/report/definition/statistic.py": {
            '    "outliers",\n]\n': '    "top_decile",\n'
        },
    },
    generated=["report.schema.json", "paper.schema.json"],
    word='"top_decile"',
    docs={"docs/statistics.md": {"| quartiles ": "| top decile | the value at 9/10 | |\n"}},
)

COMMAND = Contribution(
    adds="a command",
    names={"NAME": "rooms"},
    files={
        f"{PACKAGE}/cli/rooms.py": '''\
"""`railgauge rooms`: the rooms of the package."""

from pathlib import Path

import click

import railgauge


@click.command()
def rooms() -> None:
    """List the rooms."""
    for path in sorted(Path(railgauge.__file__).parent.glob("*/__init__.py")):
        click.echo(path.parent.name)
''',
        f"{PACKAGE}/cli/__init__.py": {
            '    "completion": (': '    "rooms": ("rooms", "rooms", "List the rooms."),\n'
        },
    },
    docs={"docs/cli.md": {"| `railgauge completion": "| `railgauge rooms` | lists rooms |\n"}},
)

CHECK = Contribution(
    adds="a check of the doctor",
    names={"NAME": "login"},
    files={
        f"{PACKAGE}/lab/doctor/login.py": '''\
"""Who the programs there are."""

from railgauge.lab.doctor.check import Check, fields


def judge(facts, needs):
    """Yield a sentence about whoever that is."""
    yield f"its programs are user {facts['user']}'s: say whether they should be"


CHECK = Check('echo "user $(id -u)"', fields, judge)
''',
        f"{PACKAGE}/lab/doctor/probe.py": {
            ", mpi, ports\n": ", login",
            ", mpi, buffers, governor, ports)": ", login",
        },
    },
    docs={"docs/doctor.md": {"| governor |": "| login | always |\n"}},
)

PATTERN = Contribution(
    adds="a pattern of links",
    names={},
    files={
        f"{PACKAGE}/plan/patterns.py": {
            "# By their keys:": '''\
def chain(hosts: Sequence[str]) -> Pattern:
    """Return each of the hosts with the next one."""
    return Pattern(len(hosts), zip(hosts, hosts[1:]))


''',
            '"ring": ring}': '"chain": chain, ',
        },
        f"{PACKAGE}/plan/links.py": {"    star: Star |": "    chain: Labels | None = None\n"},
    },
    generated=["hosts.schema.json", "plan.schema.json"],
    word='"chain"',
    docs={"docs/hosts.md": {"| `ring`,": "| `chain` | from each host to the next |\n"}},
)

CONTRIBUTIONS = (METRIC, FIGURE, TRANSPORT, FACT, STATISTIC, COMMAND, CHECK, PATTERN)
