"""What the engines say of themselves and what they make of a command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from railgauge.base.units import parse_rate

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ["udp", "tcp", "exec", "cpu", "mem", "disk"]  # those that need no MPI


@pytest.mark.parametrize("engine", PLAIN)
def test_description_is_the_one_kept_in_the_schema(engines, engine: str) -> None:
    schema = json.loads((ROOT / "schema/engines.json").read_text(encoding="utf-8"))["engines"]
    description = json.loads(engines.run(engine, "--describe").output)
    assert description == schema[engine], "run make schema"


def test_rail_mpi_describes_itself_without_a_launcher(engines, require) -> None:
    require(shutil.which("mpicc"), "mpicc")
    schema = json.loads((ROOT / "schema/engines.json").read_text(encoding="utf-8"))["engines"]
    description = json.loads(engines.run("mpi", "--describe").output)
    assert description == schema["mpi"], "run make schema"
    assert description["roles"] == ["rank"]


def test_the_schema_describes_no_other_engine(engines) -> None:
    schema = json.loads((ROOT / "schema/engines.json").read_text(encoding="utf-8"))["engines"]
    assert sorted(schema) == sorted([*PLAIN, "mpi"])


@pytest.mark.parametrize("engine", ["exec", "cpu", "mem", "disk"])
def test_without_a_role_it_says_how_it_is_called(engines, engine: str) -> None:
    outcome = engines.run(engine)
    assert outcome.status == 2
    assert f"rail-{engine} client" in outcome.errors
    assert ("COMMAND" in outcome.errors) == (engine == "exec")


@pytest.mark.parametrize("engine", PLAIN)
def test_help_tells_every_parameter_and_every_metric(engines, engine: str) -> None:
    described = json.loads(engines.run(engine, "--describe").output)
    text = engines.run(engine, "--help").output
    for parameter in described["parameters"]:
        assert f"--{parameter['name'].replace('_', '-')} " in text
    for metric in described["metrics"]:
        assert f"\n  {metric['name']}" in text


def test_help_names_the_links_rate_where_something_is_made_of_it(engines) -> None:
    assert "--link-rate RATE" in engines.run("tcp", "--help").output
    assert "--link-rate" not in engines.run("udp", "--help").output


def test_help_names_the_older_tools_options(engines) -> None:
    assert "udptest -l" in engines.run("udp", "--help").output
    assert "tcptest -m" in engines.run("tcp", "--help").output


@pytest.mark.parametrize(
    ("engine", "option"),
    [
        ("cpu", "--trace-out=arrivals"),
        ("mem", "--port=4711"),
        ("disk", "--allow=10.0.0.0/8"),
        ("tcp", "--plan-hosts=10.0.0.1"),
        ("udp", "--link-rate=1Gbit/s"),
        ("udp", "--rank-addresses=10.0.0.1"),
    ],
)
def test_an_option_that_only_other_engines_heed_is_refused(
    engines, engine: str, option: str
) -> None:
    host = ["localhost"] if engine in ("udp", "tcp") else []
    outcome = engines.run(engine, "client", *host, option)
    assert outcome.status == 2
    assert f"unknown option '{option.partition('=')[0]}'" in outcome.errors
    assert option.partition("=")[0] not in engines.run(engine, "--help").output


def test_version_is_printed(engines) -> None:
    assert engines.run("udp", "--version").output == "rail-udp 0.1.0\n"


@pytest.mark.parametrize(
    ("option", "suggestion"),
    [
        ("--sokbuf=1", "--sockbuf"),
        ("--server-sockbuff=1", "--server-sockbuf"),
        ("--datagrm=1", "--datagram"),
        ("--replication=1", "--replications"),
    ],
)
def test_an_unknown_option_is_answered_with_the_nearest(
    engines, option: str, suggestion: str
) -> None:
    outcome = engines.run("udp", "client", "localhost", option)
    assert outcome.status == 2
    assert f"did you mean '{suggestion}'?" in outcome.errors


def test_an_option_like_nothing_is_answered_with_where_to_look(engines) -> None:
    outcome = engines.run("udp", "client", "localhost", "--xyzzyplugh=1")
    assert outcome.status == 2
    assert "--help" in outcome.errors


@pytest.mark.parametrize(
    ("engine", "option", "words"),
    [
        ("udp", "--datagram=0", "1B to 65507B, such as 1460B"),
        ("udp", "--datagram=65508", "1B to 65507B"),
        ("udp", "--datagram=1.5", "1B to"),
        ("udp", "--datagram=-5", "1B to"),
        ("udp", "--datagram=1460bananas", "1460bananas"),
        ("udp", "--datagram=", "1B to"),
        ("udp", "--datagram=0x100", "1B to"),
        ("udp", "--duration=0", "10ms to 86400s, such as 5s"),
        ("udp", "--duration=inf", "10ms to"),
        ("udp", "--duration=1e999", "10ms to"),
        ("udp", "--duration=nan", "10ms to"),
        ("udp", "--mode=strem", "stream|bidirectional|exponential|latency|generator"),
        ("udp", "--tos=256", "0 to 255"),
        ("udp", "--port=65536", "0 to 65535"),
        ("udp", "--replications=0", "1 to"),
        ("tcp", "--nodelay=perhaps", "true or false"),
        ("tcp", "--congestion=cu\nbic", "visible characters"),
        ("tcp", "--message=0", "1B to 1GiB"),
    ],
)
def test_a_bad_value_is_answered_with_range_unit_and_example(
    engines, engine: str, option: str, words: str
) -> None:
    outcome = engines.run(engine, "client", "localhost", option)
    assert outcome.status == 2
    assert words in outcome.errors
    assert option.split("=")[0].strip("-") in outcome.errors


def test_a_bad_argument_is_an_event_too(engines) -> None:
    outcome = engines.run("tcp", "client", "localhost", "--mesage=1", "--json")
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("serve",),
        ("client",),
        ("client", "--json"),
        ("client", "localhost", "stray"),
        ("client", "localhost", "--datagram"),
        ("client", "localhost", "--", "true"),
        ("server", "--datagram=100"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(engines, arguments: tuple[str, ...]) -> None:
    outcome = engines.run("udp", *arguments)
    assert outcome.status == 2
    assert (outcome.output + outcome.errors).strip()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4KiB", 4096),
        ("4k", 4096),
        ("4kB", 4000),
        ("1.001kB", 1001),
        ("1460", 1460),
        ("60000B", 60000),
    ],
)
@pytest.mark.parametrize("spelling", ["--datagram={}", "--datagram {}"])
def test_sizes_may_be_written_with_units(engines, written: str, value: int, spelling: str) -> None:
    server = engines.server("udp")
    option = spelling.format(written).split()
    outcome = engines.client(server, *option, "--count=10", count=1)
    assert outcome.settings["parameters"]["datagram"] == value


@pytest.mark.parametrize(
    ("written", "value"), [("0.25", 0.25), ("250ms", 0.25), ("50000us", 0.05), ("0.1s", 0.1)]
)
def test_times_may_be_written_with_units(engines, written: str, value: float) -> None:
    server = engines.server("udp")
    outcome = engines.client(server, f"--duration={written}", count=1)
    assert outcome.settings["parameters"]["duration"] == value


@pytest.mark.parametrize("written", ["67.003Mbit/s", "1.001Gbit/s"])
def test_rates_are_what_is_written(engines, written: str) -> None:
    options = (f"--rate={written}", "--count=1")
    outcome = engines.client(engines.server("udp"), *options, count=1)
    assert outcome.settings["parameters"]["rate"] == parse_rate(written)
    port = f"--port={engines.server('udp').port}"
    output = engines.run("udp", "client", "127.0.0.1", port, *options).output
    assert f" rate {written} " in output


@pytest.mark.parametrize("name", ["server-sockbuf", "server_sockbuf"])
def test_hyphens_and_underscores_are_the_same(engines, name: str) -> None:
    server = engines.server("udp")
    outcome = engines.client(server, f"--{name}=64KiB", "--count=10", count=1)
    assert outcome.settings["parameters"]["server_sockbuf"] == 65536
