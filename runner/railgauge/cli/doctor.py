"""`railgauge doctor`: whether hosts are ready, a line each and a sentence for each problem."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from railgauge.base import units
from railgauge.base.certificate import Certificate
from railgauge.base.characters import in_columns
from railgauge.base.errors import NoDatabaseError
from railgauge.base.number import plural
from railgauge.cli.argument_types import ShippedFile
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.engine.deploy import bundle
from railgauge.lab.doctor.diagnosis import Diagnosis, HostFindings
from railgauge.lab.doctor.examine import examine
from railgauge.lab.doctor.host_certificates import with_certificates
from railgauge.lab.doctor.targets import read_targets
from railgauge.run.progress import observer_for
from railgauge.store import Store

_HEADER = (
    "host",
    "state",
    "kernel",
    "compiler",
    "MPI",
    "clock",
    "rmem_max",
    "wmem_max",
    "governor",
)
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")
_PROBLEMS, _UNREACHABLE = 1, 3


@click.command()
@click.argument("hosts", metavar="HOSTS", type=ShippedFile("plans"))
@click.option(
    "--plan", type=ShippedFile("plans"), help="A plan whose requirements the hosts have to meet."
)
@click.option(
    "--links",
    type=click.IntRange(min=0),
    default=500,
    show_default=True,
    help="How many links are tried at most; 0: none, so that no engine is built either.",
)
@database
@as_json
def doctor(hosts: Path, plan: Path | None, links: int, where: str, as_json: bool) -> int:
    """Examine the hosts of HOSTS, a hosts file or a plan, and the links between them.

    Exit status: 0 all is well, 1 there are problems, 3 a host can't be reached.
    """
    targets = read_targets(hosts, plan)
    certificates = _certificates(where)
    observer = observer_for()
    # Hosts that are dead take a minute.
    observer.say(f"examining {plural(len(targets.hosts), 'host')}")
    diagnosis = with_certificates(
        examine(targets, links, observer), targets.needs, certificates, bundle().digest
    )
    if as_json:
        click.echo(json_text(_as_json(diagnosis)))
    else:
        _print(diagnosis)
    if not all(findings.reachable for findings in diagnosis.hosts.values()):
        return _UNREACHABLE
    return _PROBLEMS if diagnosis.sentences() else 0


def _certificates(where: str) -> list[Certificate]:
    """Return the certificates of a database, none where there is none yet."""
    try:
        with Store.open(where, create=False) as store:
            return store.certificates()
    except NoDatabaseError:
        return []


def _print(diagnosis: Diagnosis) -> None:
    rows = [_HEADER, *(_row(name, findings) for name, findings in diagnosis.hosts.items())]
    for line in in_columns(rows, ()):
        click.echo(line)
    sentences = diagnosis.sentences()
    click.echo()
    for sentence in sentences:
        click.echo(sentence)
    for note in diagnosis.notes:
        click.echo(f"note: {note}")
    tried = sum(link.tcp is not None for link in diagnosis.links)
    examined = f"{plural(len(diagnosis.hosts), 'host')} and {plural(tried, 'link')} examined"
    click.echo(f"{examined}: {plural(len(sentences), 'problem') if sentences else 'all is well'}")


def _row(name: str, findings: HostFindings) -> tuple[str, ...]:
    facts = findings.facts
    state = plural(len(findings.problems), "problem") if findings.problems else "ready"
    version = _VERSION.findall(facts.get("compiler", ""))
    offset = findings.clock
    clock = ""
    if offset is not None:
        clock = f"{offset.seconds * 1e3:+.1f} ± {offset.error * 1e3:.1f} ms"
    return tuple(
        text or "-"
        for text in (
            name,
            state if findings.reachable else "unreachable",
            " ".join(facts[key] for key in ("kernel", "architecture") if key in facts),
            f"cc {version[-1]}" if version else facts.get("compiler", "")[:20],
            facts.get("mpi", ""),
            clock,
            *(_size(facts.get(limit)) for limit in ("rmem_max", "wmem_max")),
            facts.get("governor", ""),
        )
    )


def _size(text: str | None) -> str:
    return "" if text is None else units.format_size(int(text))


def _as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "hosts": [_host_as_json(name, findings) for name, findings in diagnosis.hosts.items()],
        "links": [asdict(link) for link in diagnosis.links],
        "links_known": diagnosis.links_known,
        "problems": list(diagnosis.problems),
        "notes": list(diagnosis.notes),
    }


def _host_as_json(name: str, findings: HostFindings) -> dict[str, Any]:
    offset = findings.clock
    return {
        "name": name,
        "reachable": findings.reachable,
        "facts": dict(findings.facts),
        "clock_offset": None if offset is None else offset.seconds,
        "clock_offset_error": None if offset is None else offset.error,
        "problems": list(findings.problems),
    }
