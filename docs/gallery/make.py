"""Makes the gallery's pages of gallery.sql: each report beside its definition.

    python docs/gallery/make.py [FOLDER]

The same bytes each time, with the gnuplot that is pinned (requirements-gnuplot.lock).
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.report.checks.spec import load_spec
from railgauge.report.definition.definition_model import Spec
from railgauge.report.document.write_report import ReportOptions, write_report
from railgauge.store import Store

HERE = Path(__file__).parent
DEFINITIONS = HERE.parents[1] / "reports"
DATABASE = "gallery.sql"


@dataclass(frozen=True, slots=True)
class Entry:
    """A report of the gallery: the definition's name, the plans of its runs, and what it shows.

    `folder` has the definition; the shipped ones are in reports/.
    """

    name: str
    plans: Sequence[str]
    says: str
    folder: Path = DEFINITIONS


_HPCBENCH = "Hpcbench's own sample, imported."
ENTRIES: Mapping[str, Sequence[Entry]] = {
    "The SHARCNET paper": (
        Entry("sharcnet-table1", ["sharcnet_table1_udp"], "The paper's Table 1, imported."),
        Entry("sharcnet-table2", ["sharcnet_table2_tcp"], "The paper's Table 2, imported."),
        Entry(
            "sharcnet-window-bound",
            ["sharcnet-tcp"],
            "The paper's argument about windows, measured on a testbed of network namespaces.",
        ),
        Entry(
            "sharcnet-compared",
            ["sharcnet-tcp", "sharcnet-udp"],
            "The plans of both tables on that testbed: compared with a column, as bars, as points"
            " with intervals, as a map, as distributions.",
            HERE,
        ),
    ),
    "Hpcbench": (
        Entry("hpcbench-stream", ["stream"], _HPCBENCH),
        Entry("hpcbench-bidirectional", ["bidirectional"], _HPCBENCH),
        Entry("hpcbench-exponential", ["exponential"], _HPCBENCH),
        Entry("hpcbench-latency", ["latency"], _HPCBENCH),
        Entry("hpcbench-system-log", ["system_log"], _HPCBENCH),
    ),
    "UDPmon": (
        Entry(
            "udpmon-arrival", ["udpmon"], "Measured on a testbed of a busy machine: much is lost."
        ),
        Entry("udpmon-delay", ["udpmon"], "Of the same run."),
        Entry("jumbo-sweep", ["jumbo-sweep"], "Measured on a testbed's link of 9,000 bytes."),
    ),
    "ZC": (
        Entry(
            "zc-cpu",
            [
                "2.4.1-pre10+zerocopy",
                "2.4.1-pre10-vanilla",
                "2.4.1-pre10+zc, SG, MAXPGS=8",
                "2.4.1-pre10+zc, SG, MAXPGS=1",
                "2.4.1-pre10+zc, no SG",
            ],
            "ZC's own numbers.",
        ),
    ),
    "A machine": (
        Entry("machine-cpu", ["machine-cpu"], "A virtual machine of two CPUs, busy beside."),
        Entry("machine-memory", ["machine-memory"], "The same machine, small blocks only."),
        Entry("machine-disk", ["machine-disk"], "Its virtual disk, for a tenth of a second each."),
        Entry("machine-network", ["machine-network"], "Its loopback interface."),
        Entry("quickstart", ["quickstart"], "What `make demo` shows."),
    ),
    "A cluster": (
        Entry("mpi-matrix", ["mpi-matrix"], "Four hosts of a testbed, one behind a slower port."),
        Entry(
            "compute-vs-network",
            ["compute-vs-network"],
            "HPC Challenge on two hosts of a testbed whose two CPUs all share.",
        ),
        Entry("mpi-collectives", ["mpi-matrix"], "The same four hosts."),
        Entry(
            "mpi-osu",
            ["mpi-osu"],
            "Two hosts of a testbed, and pairs of ranks that share their CPUs.",
        ),
    ),
}


def load(path: Path) -> None:
    """Make the kept database at `path`."""
    with sqlite3.connect(path) as connection:
        connection.executescript((HERE / DATABASE).read_text(encoding="utf-8"))
    connection.close()


def runs_of(store: Store, plans: Sequence[str]) -> list[int]:
    """Return the ids of the plans' runs, in the order of `plans`."""
    by_plan = {one.plan: one.id for one in store.runs()}
    return [by_plan[plan] for plan in plans]


def pages(store: Store, catalogue: Catalogue, scratch: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file; reports are made in `scratch`."""
    listed = []
    for heading, entries in ENTRIES.items():
        listed += ["", f"## {heading}", ""]
        for entry in entries:
            source = entry.folder / f"{entry.name}.yaml"
            spec = load_spec(source, catalogue)
            made = scratch / entry.name
            runs = runs_of(store, entry.plans)
            options = ReportOptions(most_cases=0)
            files = write_report(store, runs, spec, made, catalogue=catalogue, options=options)
            pictures = [path for path in files if path.suffix == ".svg"]
            for picture in pictures:
                yield f"{entry.name}/{picture.name}", picture.read_text(encoding="utf-8")
            text = (made / f"{entry.name}.txt").read_text(encoding="utf-8")
            yield f"{entry.name}.md", _page(entry, spec, source, pictures, text)
            listed.append(f"- [{spec.title}]({entry.name}.md): {entry.says}")
    yield "README.md", _index(listed)


def _page(entry: Entry, spec: Spec, source: Path, pictures: Sequence[Path], text: str) -> str:
    titles = {figure.name: figure.title for figure in spec.figures}
    shown = []
    for picture in pictures:
        title = _title(titles, picture.stem)
        shown += [f"**{title}**", f"![{title}]({entry.name}/{picture.name})"]
    definition = source.read_text(encoding="utf-8")
    parts = [
        f"# {spec.title}",
        f"{entry.says} [All reports](README.md).",
        *shown,
        f"```text\n{text.rstrip()}\n```",
        "The definition:",
        f"```yaml\n{definition.rstrip()}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _title(titles: Mapping[str, str], stem: str) -> str:
    """Return the title of the figure that a picture is of; with `each`, NAME-1 has its number."""
    if stem in titles:
        return titles[stem]
    name, _, number = stem.rpartition("-")
    return f"{titles[name]} ({number})"


def _index(listed: Sequence[str]) -> str:
    head = [
        "# Gallery",
        "",
        "Reports as `railgauge report --spec` makes them, each with its definition: the pictures"
        " that stand in `index.html`, and the plain text. `make gallery` makes these pages again of"
        " [gallery.sql](gallery.sql), which holds what the papers printed and short measurements on"
        " network namespaces of one busy virtual machine: they show what reports look like, and are"
        " no figures to compare yours with. [measure.py](measure.py) measured them.",
    ]
    return "\n".join([*head, *listed]) + "\n"


def main() -> None:
    """Write all pages below the folder named, by default here."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        load(scratch / "gallery.db")
        with Store.open(str(scratch / "gallery.db")) as store:
            for file, text in pages(store, load_catalogue(), scratch):
                path = out / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
