"""`railgauge testbed`: a cluster in a box, built and removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from railgauge.base.errors import EnvironmentFailedError
from railgauge.base.number import plural
from railgauge.base.units import format_rate, format_time
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json
from railgauge.cli.output_files import check_outputs, write
from railgauge.lab.testbed.down import down
from railgauge.lab.testbed.read_testbed import read_testbed
from railgauge.lab.testbed.relay import counts
from railgauge.lab.testbed.state import State, find, states
from railgauge.lab.testbed.up import up
from railgauge.run.progress import observer_for


@click.group("testbed")
def testbed() -> None:
    """Build, list and remove testbeds: hosts as network namespaces on this machine."""


@testbed.command("up")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--hosts-out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the hosts file there, too.",
)
def up_command(file: Path, hosts_out: Path | None) -> None:
    """Build the testbed that FILE describes and write the hosts file with which plans use it.

    Root builds it on the machine itself, other users in a user namespace.
    """
    check_outputs(hosts_out)
    state = up(file, observer_for())
    text = state.hosts_file.read_text(encoding="utf-8")
    if hosts_out is not None:
        try:
            write(hosts_out, text)
        except EnvironmentFailedError as error:
            down(state)
            raise EnvironmentFailedError(f"{error} (the testbed is down again)") from error
    assert state.record is not None
    layout = state.record.layout
    click.echo(f"{layout.name} is up: {plural(len(layout.namespaces), 'host')}")
    width = max(map(len, layout.namespaces))
    for name, namespace in layout.namespaces.items():
        click.echo(f"  {name:<{width}}  {layout.addresses[name]:<15}  {namespace}")
    click.echo(f"hosts_file: {hosts_out or state.hosts_file}")


@testbed.command("down")
@click.argument("target", metavar="NAME|FILE", required=False)
@click.option("--all", "remove_all", is_flag=True, help="Remove all testbeds of this user.")
def down_command(target: str | None, remove_all: bool) -> None:
    """Remove the testbed NAME, or the one of FILE; also one whose building was cut short.

    What runs on its hosts ends.
    """
    if remove_all == (target is not None):
        raise click.UsageError("say which testbed, or --all")
    for state in states() if remove_all else [_chosen(str(target))]:
        down(state)
        click.echo(f"{state.name} is down")


def _chosen(target: str) -> State:
    """Return the testbed of that name or, of a file that is there, of its name."""
    path = Path(target)
    if path.suffix not in (".yaml", ".yml") and "/" not in target:
        return find(target)
    return find(read_testbed(path).name)


@testbed.command("list")
@as_json
def list_command(as_json: bool) -> None:
    """List the testbeds, their hosts and links, and what was lost on them."""
    testbeds = [_as_json(state) for state in states()]
    if as_json:
        click.echo(json_text(testbeds))
        return
    if not testbeds:
        click.echo("no testbed is up: railgauge testbed up FILE builds one")
    for entry in testbeds:
        click.echo("\n".join(_lines(entry)))


def _as_json(state: State) -> dict[str, Any]:
    """Return a testbed's description, with what its relays counted so far."""
    answer: dict[str, Any] = {
        "name": state.name,
        "state": "unfinished",
        "folder": str(state.folder),
    }
    if state.record is None:
        return answer
    layout = state.record.layout
    counted = counts(state)
    return {
        **answer,
        "state": "up" if state.record.ready else "unfinished",
        "source": state.record.source,
        "network": layout.network,
        "holder": state.record.holder,
        "hosts_file": str(state.hosts_file),
        "hosts": [
            {"name": name, "address": layout.addresses[name], "netns": namespace}
            for name, namespace in layout.namespaces.items()
        ],
        "cables": [
            {
                "name": cable.name,
                "ends": [f"{end.namespace}/{end.interface}" for end in cable.ends],
                "rate": cable.rate,
                "delay": cable.delay,
                "mtu": cable.mtu,
                "by": cable.by,
                **({"relay": counted[index]} if index in counted else {}),
            }
            for index, cable in enumerate(layout.cables)
        ],
    }


def _lines(testbed: dict[str, Any]) -> Iterator[str]:
    """Yield what `list` says of one testbed: a line for each host and each cable."""
    if testbed["state"] != "up":
        name = testbed["name"]
        yield f"{name}: not all built; railgauge testbed down {name} removes it"
        return
    yield f"{testbed['name']}: up, hosts_file: {testbed['hosts_file']}"
    for host in testbed["hosts"]:
        yield f"  {host['name']}  {host['address']}  {host['netns']}"
    for cable in testbed["cables"]:
        yield f"  {cable['name']}: {', '.join(_about(cable))}"


def _about(cable: dict[str, Any]) -> Iterator[str]:
    """Yield what a cable was asked to be, and what its relay counted."""
    yield "no rate" if cable["rate"] is None else format_rate(cable["rate"])
    if cable["delay"]:
        yield f"{format_time(cable['delay'])} each way"
    yield f"MTU {cable['mtu']}"
    yield f"by {cable['by']}"
    relay = cable.get("relay")
    if relay is None:
        return
    if not relay["running"]:
        yield "broken: the relay has ended"
    elif "left_to_right" not in relay:
        yield "the relay doesn't answer"
    for arrow, direction in (("→", "left_to_right"), ("←", "right_to_left")):
        if numbers := relay.get(direction):
            yield f"{arrow} {numbers['passed']} passed {numbers['lost']} lost"
            if dropped := numbers["overflowed"] + numbers["refused"] + numbers["unread"]:
                yield f"{arrow} {dropped} dropped"
