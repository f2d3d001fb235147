"""The local transport: programs on this machine, their lines, their ends."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.few_descriptors import few_descriptors

from railgauge.base.errors import EngineError, EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.interface import end, run
from railgauge.hosts.transport.local import LocalTransport
from railgauge.hosts.transport.registry import open_transport
from railgauge.plan.model import Host

# Seconds that a program has to end by itself: one that gets no CPU for so long is killed.
GRACE = 1.0


@pytest.fixture
def local() -> LocalTransport:
    return LocalTransport("here")


def test_output_status_and_stderr_come_back(local: LocalTransport) -> None:
    completed = run(local, ["sh", "-c", "echo one; printf two; echo bad >&2; exit 3"], timeout=60)
    assert completed.stdout == "one\ntwo\n"
    assert completed.stderr == "bad\n"
    assert completed.status == 3


def test_arguments_are_never_read_by_a_shell(local: LocalTransport) -> None:
    completed = run(local, ["printf", "%s\n", "$HOME `id` 'x' *"], timeout=60)
    assert completed.stdout == "$HOME `id` 'x' *\n"


def test_lines_come_as_they_are_written(local: LocalTransport) -> None:
    process = local.start(["sh", "-c", "while read x; do echo got $x; done"])
    for word in ("a", "b"):
        process.send_line(word)
        assert process.read_line(60) == f"got {word}"
    with pytest.raises(TimeoutError):
        process.read_line(0.01)
    process.close_stdin()
    process.close_stdin()
    assert process.read_line(60) is None
    assert process.wait(60).status == 0
    assert process.wait(60).status == 0


def test_a_timeout_in_the_middle_of_a_line_loses_nothing(local: LocalTransport) -> None:
    process = local.start(["sh", "-c", "printf half; read x; echo -whole"])
    with pytest.raises(TimeoutError):
        process.read_line(0.1)
    process.send_line("")
    assert process.read_line(60) == "half-whole"
    process.wait(60)


def test_kill_ends_the_program_and_what_it_started(
    local: LocalTransport, process_ends: Callable[[int], bool]
) -> None:
    process = local.start(["sh", "-c", "sleep 100 & echo $!; wait"])
    child = int(process.read_line(60) or "")
    process.kill()
    process.kill()
    assert process.wait(60).status == -9
    assert process_ends(child)
    process.kill()


def test_kill_reaches_children_whose_parent_has_ended(
    local: LocalTransport, process_ends: Callable[[int], bool]
) -> None:
    process = local.start(["sh", "-c", "sleep 100 >/dev/null 2>&1 & echo $!"])
    child = int(process.read_line(60) or "")
    assert process.read_line(60) is None
    process.kill()
    assert process_ends(child)
    process.wait(60)


def test_waiting_for_a_program_that_goes_on_times_out(local: LocalTransport) -> None:
    process = local.start(["sleep", "100"])
    with pytest.raises(TimeoutError):
        process.wait(0.01)
    process.kill()
    process.wait(60)


def test_run_past_its_timeout_kills_and_says_so(local: LocalTransport) -> None:
    with pytest.raises(TimeoutError, match=r"here: 'sh' did not end within 0.2 s"):
        run(local, ["sh", "-c", "echo $$; exec sleep 100"], timeout=0.2)


def test_a_program_leads_a_session_of_its_own(local: LocalTransport) -> None:
    script = "import os; print(os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())"
    assert run(local, [sys.executable, "-c", script], timeout=60).stdout == "True True\n"


def test_a_program_inherits_no_descriptors(local: LocalTransport) -> None:
    with Path("/dev/null").open() as handle:
        os.set_inheritable(handle.fileno(), True)
        listing = run(local, ["ls", "/proc/self/fd"], timeout=60).stdout.split()
    assert listing == ["0", "1", "2", "3"]  # 3 is ls reading the folder


def test_a_flood_on_stderr_neither_blocks_nor_piles_up(local: LocalTransport) -> None:
    script = "import sys; sys.stderr.write('x' * 5_000_000 + 'end'); print('done')"
    process = local.start([sys.executable, "-c", script])
    stderr = process.wait(30).stderr  # nobody reads meanwhile
    assert stderr == "x" * (65536 - 3) + "end"
    assert process.read_line(60) == "done"


def test_a_line_of_more_than_eight_mebibytes_breaks_the_contract(local: LocalTransport) -> None:
    process = local.start(["head", "-c", "9000000", "/dev/zero"])
    with pytest.raises(EngineError) as caught:
        process.read_line(60)
    assert caught.value.code == "contract"
    process.kill()
    process.wait(60)


def test_a_line_of_almost_eight_mebibytes_is_fine(local: LocalTransport) -> None:
    process = local.start([sys.executable, "-c", "print('x' * 8_000_000); print('y')"])
    assert len(process.read_line(60) or "") == 8_000_000
    assert process.read_line(60) == "y"
    process.wait(60)


def test_endless_output_of_run_is_cut_off(local: LocalTransport) -> None:
    with pytest.raises(EngineError, match="more than 64 MiB"):
        run(local, ["yes", "x" * 1000], timeout=60)


def test_invalid_utf8_is_replaced(local: LocalTransport) -> None:
    assert run(local, ["printf", r"a\377b\n"], timeout=60).stdout == "a\ufffdb\n"


def test_a_missing_program_is_named(local: LocalTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match=r"here: can't start 'no-such-program'"):
        local.start(["no-such-program"])


def test_an_argument_with_a_null_byte_is_an_error_of_ours(local: LocalTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match="can't start"):
        local.start(["echo", "a\0b"])


def test_a_program_that_too_few_descriptors_are_left_for_is_an_error_of_ours(
    local: LocalTransport,
) -> None:
    messages = []
    for free in range(32):
        try:
            with few_descriptors(free):
                process = local.start(["true"])
        except EnvironmentFailedError as error:
            messages.append(str(error))
        else:
            break
    words = "here: can't start 'true': Too many open files; let more files be open at a time"
    assert messages == [f"{words} (ulimit -n)"] * free
    assert free > 0
    assert process.wait(60).status == 0


def test_sending_to_a_program_that_ended_is_harmless(local: LocalTransport) -> None:
    process = local.start(["true"])
    assert process.read_line(60) is None
    process.send_line("anybody there?")
    assert process.wait(60).status == 0
    process.send_line("still not")


def test_put_makes_folders_and_writes_bytes(local: LocalTransport, tmp_path: Path) -> None:
    files = {"Makefile": b"all:\n", "lib/deep/x.c": b"\0\xff"}
    local.put(files, f"{tmp_path}/new/place")
    for name, content in files.items():
        assert (tmp_path / "new/place" / name).read_bytes() == content


def test_put_where_nothing_can_be_written_says_where(local: LocalTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match=r"here: can't write to /proc/nowhere"):
        local.put({"x": b""}, "/proc/nowhere")


def test_a_host_without_ssh_is_this_machine() -> None:
    transport = open_transport("me", Host(address="127.0.0.1", transport="local"))
    assert isinstance(transport, LocalTransport)
    assert transport.host == "me"


def test_letting_go_of_the_host_closes_every_stdin(local: LocalTransport) -> None:
    process = local.start(["cat"])
    began = time.monotonic()
    local.close()
    lasted = time.monotonic() - began
    assert process.wait(60).status == 0 or lasted >= GRACE


def test_letting_go_of_the_host_ends_a_run_that_another_thread_waits_for(
    local: LocalTransport, tmp_path: Path, process_ends: Callable[[int], bool]
) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            run, local, ["sh", "-c", 'sleep 60 & echo $! >"$1"; wait', "sh", str(pid)], timeout=60
        )
        child = int(pid.read_text())
        local.close()
        with contextlib.suppress(HostUnreachableError):  # closed just before start() came back
            assert running.result(10).status == -9
    assert process_ends(child)


def test_letting_go_of_the_host_lets_a_program_tidy_up(
    local: LocalTransport, tmp_path: Path
) -> None:
    process = local.start(["sh", "-c", 'read x; echo tidy >"$1"', "sh", str(tmp_path / "state")])
    began = time.monotonic()
    local.close()
    lasted = time.monotonic() - began
    assert process.wait(60).status == 0 or lasted >= GRACE
    assert lasted >= GRACE or (tmp_path / "state").read_text() == "tidy\n"


def test_letting_go_of_the_host_kills_what_minds_nothing(local: LocalTransport) -> None:
    process = local.start(["sleep", "100"])
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(process.read_line)
        local.close()
        assert reading.result(10) is None
    assert process.wait(60).status == -9


def test_a_host_let_go_of_starts_nothing_more(local: LocalTransport) -> None:
    local.close()
    local.close()
    with pytest.raises(HostUnreachableError, match="here: nothing more is started there"):
        local.start(["true"])


def test_reading_ends_by_kill_even_if_something_that_escaped_holds_the_output(
    local: LocalTransport,
) -> None:
    process = local.start(["sh", "-c", "setsid sleep 100 & echo $!; wait"])
    escaped = int(process.read_line(60) or "")
    try:
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(process.read_line)
            process.kill()
            assert reading.result(10) is None
    finally:
        os.kill(escaped, signal.SIGKILL)
    assert process.wait(60).status == -9


def test_what_a_killed_program_had_written_is_still_read(
    local: LocalTransport, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "written")
    script = 'echo one; echo two; echo >"$1"; exec sleep 100'
    process = local.start(["sh", "-c", script, "sh", str(tmp_path / "written")])
    (tmp_path / "written").read_text()
    process.kill()
    assert [process.read_line(60) for _ in range(3)] == ["one", "two", None]
    process.wait(60)


def test_many_threads_may_wait_for_the_same_program(local: LocalTransport) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            process = local.start(["cat"])
            together = threading.Barrier(8)

            def wait(together: threading.Barrier = together, process=process) -> int:
                together.wait()
                return process.wait(60).status

            waiting = [pool.submit(wait) for _ in range(8)]
            process.close_stdin()
            assert [future.result() for future in waiting] == [0] * 8


def test_ending_gives_all_programs_the_same_grace_and_kills_the_rest(
    local: LocalTransport,
) -> None:
    minding = local.start(["cat"])
    end([minding], grace=60)
    assert minding.wait(0).status == 0
    hanging = [local.start(["sleep", "100"]) for _ in range(3)]
    end(hanging, grace=0.3)
    assert [process.wait(60).status for process in hanging] == [-9] * 3
