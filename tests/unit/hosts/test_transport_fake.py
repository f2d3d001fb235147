"""The fake host keeps to what a real one does."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.fake import LINE, LOSS, NEVER, FakeTransport, Program
from railgauge.hosts.transport.interface import Exit, end, run


def hello(argv: Sequence[str]) -> Program:
    yield f"hello {argv[1]}"
    return Exit(3, "and goodbye")


def parrot(argv: Sequence[str]) -> Program:
    yield "ready"
    while (line := (yield LINE)) is not None:
        yield line.upper()
    return 0


def hanging(argv: Sequence[str]) -> Program:
    yield "started"
    yield NEVER
    return 0


def fatal(argv: Sequence[str]) -> Program:
    yield "last words"
    yield LOSS
    return 0


@pytest.fixture
def host() -> FakeTransport:
    return FakeTransport(
        "moon", {"hello": hello, "parrot": parrot, "hanging": hanging, "fatal": fatal}
    )


def test_a_script_says_its_lines_and_ends(host: FakeTransport) -> None:
    completed = run(host, ["/opt/bin/hello", "you"], timeout=60)
    assert (completed.stdout, completed.status) == ("hello you\n", 3)
    assert completed.stderr == "and goodbye"


def test_a_script_hears_its_input_and_its_end(host: FakeTransport) -> None:
    process = host.start(["parrot"])
    assert process.read_line(60) == "ready"
    process.send_line("polly")
    assert process.read_line(60) == "POLLY"
    with pytest.raises(TimeoutError):
        process.read_line(0.01)
    process.close_stdin()
    assert process.read_line(60) is None
    assert process.wait(60) == Exit(0, "")
    assert process.sent == ["polly"]


def test_an_empty_line_of_input_is_not_its_end(host: FakeTransport) -> None:
    process = host.start(["parrot"])
    process.send_line("")
    process.close_stdin()
    assert [process.read_line(60) for _ in range(3)] == ["ready", "", None]


def test_a_hanging_script_ends_only_by_kill(host: FakeTransport) -> None:
    process = host.start(["hanging"])
    assert process.read_line(60) == "started"
    process.close_stdin()
    with pytest.raises(TimeoutError):
        process.wait(0.01)
    killer = threading.Timer(0.05, process.kill)
    killer.start()
    assert process.read_line(60) is None
    assert process.wait(60).status == -9
    killer.join()


def test_run_kills_what_hangs(host: FakeTransport) -> None:
    with pytest.raises(TimeoutError, match="'hanging' did not end"):
        run(host, ["hanging"], timeout=0.01)
    assert host.started[0].wait(60).status == -9


def test_a_lost_host_is_lost_for_everything(host: FakeTransport) -> None:
    other = host.start(["parrot"])
    process = host.start(["fatal"])
    assert process.read_line(60) == "last words"
    for call in (process.read_line, process.wait, other.read_line):
        with pytest.raises(HostUnreachableError, match="moon"):
            call(1)
    with pytest.raises(HostUnreachableError):
        host.start(["hello", "you"])
    with pytest.raises(HostUnreachableError):
        host.put({"a": b""}, "/b")


def test_losing_the_host_wakes_who_waits(host: FakeTransport) -> None:
    process = host.start(["hanging"])
    assert process.read_line(60) == "started"
    loser = threading.Timer(0.05, host.lose)
    loser.start()
    with pytest.raises(HostUnreachableError):
        process.wait(60)
    loser.join()


def test_files_are_kept_for_looking_at(host: FakeTransport) -> None:
    host.put({"lib/a.c": b"int a;"}, "~/x")
    assert host.files == {"~/x/lib/a.c": b"int a;"}


def test_an_unknown_program_is_named(host: FakeTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match="moon: can't start 'ghost'"):
        host.start(["ghost"])


def test_one_thread_reads_a_script_that_another_waits_for(host: FakeTransport) -> None:
    process = host.start(["parrot"])
    assert process.read_line(60) == "ready"
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(process.read_line, 10)
        waiting = pool.submit(process.wait, 10)
        process.send_line("polly")
        process.close_stdin()
        assert reading.result() == "POLLY"
        assert waiting.result() == Exit(0, "")
    assert process.read_line(60) is None


def test_ending_kills_a_script_that_does_not_mind_its_input(host: FakeTransport) -> None:
    hanging, parrot = host.start(["hanging"]), host.start(["parrot"])
    end([hanging, parrot], grace=0.05)
    assert (hanging.wait(60).status, parrot.wait(60).status) == (-9, 0)
