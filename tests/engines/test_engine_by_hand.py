"""What a person sees who runs the engines without --json."""

from __future__ import annotations

import re

import pytest


def _rows(text: str) -> dict[str, list[float | None]]:
    """Each row's first word and its numbers, None for what was not measured."""
    rows = {}
    for line in text.splitlines():
        head = re.match(r"(# min|# mean|# max|warm-up|\d+) +(.*)", line)
        if head:
            rows[head[1]] = [None if cell == "-" else float(cell) for cell in head[2].split()]
    return rows


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (("udp",), "network Mbit/s local Mbit/s sent received lost loss %"),
        (("udp", "--mode=latency"), "lost trips min us mean us max us p50 us"),
        # Of less, a look at the connection may come too late for all that it tells.
        (
            ("tcp", "--congestion=system", "--count=2000"),
            "Mbit/s local Mbit/s sent bytes messages retrans",
        ),
        (("tcp", "--congestion=system", "--mode=latency"), "trips min us mean us max us"),
    ],
)
def test_the_table_has_a_heading_a_row_each_and_its_statistics(
    engines, paced, options: tuple[str, ...], columns: str
) -> None:
    engine, *rest = options
    server = engines.server(engine)
    given = (f"--port={server.port}", "--replications=3", "--count=200", "--warmup=20ms")

    def measure():
        done = engines.run(engine, "client", "127.0.0.1", *given, *rest)
        assert (done.status, done.errors) == (0, "")
        assert columns in re.sub(" +", " ", done.output)
        return done

    # What a short replication may lack gets its column, and a new heading, when it first comes.
    def is_whole(done) -> bool:
        columns = zip(*_rows(done.output).values(), strict=False)
        has_gaps = any(None in cells and set(cells) != {None} for cells in columns)
        return len(re.findall("(?m)^#  ", done.output)) == 1 and not has_gaps

    done = paced(measure, is_whole)
    heading = done.output
    assert "# client, as granted: sndbuf" in heading
    assert "# server, as granted: sndbuf" in heading
    rows = _rows(done.output)
    assert list(rows) == ["warm-up", "1", "2", "3", "# min", "# mean", "# max"]
    for cells in zip(*rows.values(), strict=True):
        if None in cells:
            assert set(cells) == {None}
            continue
        _, *measured, lowest, mean, highest = cells
        assert (lowest, highest) == (min(measured), max(measured))
        assert mean == pytest.approx(sum(measured) / 3, rel=0.01, abs=1)


def test_the_server_says_where_it_listens(engines) -> None:
    server = engines.start("tcp", "server", "--port=0")
    assert re.fullmatch(r"rail-tcp listening on port \d+\n", server.line())


def test_an_error_goes_to_standard_error_with_its_code(engines, free_port) -> None:
    done = engines.run("udp", "client", "127.0.0.1", f"--port={free_port()}")
    assert (done.status, done.output) == (1, "")
    assert "(connection-refused)" in done.errors


def test_a_command_gets_a_table_too(engines) -> None:
    done = engines.run("exec", "client", "--replications=2", "--", "true")
    assert list(_rows(done.output)) == ["1", "2", "# min", "# mean", "# max"]
