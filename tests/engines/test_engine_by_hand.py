"""What a person sees who runs the engines without --json."""

from __future__ import annotations

import re

import pytest


def _rows(text: str) -> dict[str, dict[str, float | None]]:
    """Each row's first word and its numbers by the heading above it, None for what isn't measured.

    What a short replication may lack gets its column, and a new heading, when it first comes.
    """
    rows, heading = {}, ""
    for line in text.splitlines():
        if line.startswith("#  "):
            heading = line
        elif label := re.match(r"# min|# mean|# max|warm-up|\d+", line):
            cells = [cell for cell in re.finditer(r"\S+", line) if cell.start() >= label.end()]
            begins = [len(label[0]), *(cell.end() for cell in cells)]
            rows[label[0]] = {
                heading[begin : cell.end()].strip("# "): None if cell[0] == "-" else float(cell[0])
                for begin, cell in zip(begins, cells, strict=False)
            }
    return rows


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (("udp",), "network Mbit/s local Mbit/s sent received lost loss %"),
        (("udp", "--mode=latency"), "lost loss % trips min us mean us max us p50 us"),
        (("tcp", "--congestion=system"), "Mbit/s local Mbit/s sent bytes messages retrans"),
        (("tcp", "--congestion=system", "--mode=latency"), "trips min us mean us max us"),
    ],
)
def test_the_table_has_a_heading_a_row_each_and_its_statistics(
    engines, options: tuple[str, ...], columns: str
) -> None:
    engine, *rest = options
    server = engines.server(engine)
    flags = (f"--port={server.port}", "--replications=3", "--count=200", "--warmup=300ms")
    outcome = engines.run(engine, "client", "127.0.0.1", *flags, *rest)
    assert (outcome.status, outcome.errors) == (0, "")
    assert columns in re.sub(" +", " ", outcome.output)
    assert "# client, as granted: sndbuf" in outcome.output
    assert "# server, as granted: sndbuf" in outcome.output
    rows = _rows(outcome.output)
    assert list(rows) == ["warm-up", "1", "2", "3", "# min", "# mean", "# max"]
    lowest, mean, highest = rows["# min"], rows["# mean"], rows["# max"]
    assert lowest
    for name in lowest:
        values = (rows[number].get(name) for number in ("1", "2", "3"))
        measured = [value for value in values if value is not None]
        if not measured:
            assert lowest[name] is mean[name] is highest[name] is None
            continue
        assert (lowest[name], highest[name]) == (min(measured), max(measured))
        assert mean[name] == pytest.approx(sum(measured) / len(measured), rel=0.01, abs=1)


def test_the_server_says_where_it_listens(engines) -> None:
    server = engines.start("tcp", "server", "--port=0")
    assert re.fullmatch(r"rail-tcp listening on port \d+\n", server.line())


def test_an_error_goes_to_standard_error_with_its_code(engines, free_port) -> None:
    outcome = engines.run("udp", "client", "127.0.0.1", f"--port={free_port()}")
    assert (outcome.status, outcome.output) == (1, "")
    assert "(connection-refused)" in outcome.errors


def test_a_command_gets_a_table_too(engines) -> None:
    outcome = engines.run("exec", "client", "--replications=2", "--", "true")
    assert list(_rows(outcome.output)) == ["1", "2", "# min", "# mean", "# max"]
