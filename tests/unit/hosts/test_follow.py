"""A launch whose server ends, fails or is lost while the client says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from railgauge.base.errors import EngineError, HostUnreachableError
from railgauge.engine.events import Failed
from railgauge.engine.follow import RunningProgram, events, listening_port
from railgauge.engine.running_programs import RunningPrograms
from railgauge.hosts.transport.fake import LINE, LOSS, NEVER, FakeTransport, Script
from railgauge.hosts.transport.fake import Program as Steps
from railgauge.hosts.transport.interface import Exit
from railgauge.hosts.transport.local import LocalTransport

PEER_LOST = '{"event":"error","code":"peer-lost","message":"the server hung up"}'


def running(host: str, script: Script) -> RunningProgram:
    return RunningProgram(host, FakeTransport(host, {"engine": script}).start(["engine"]))


def silent(argv: Sequence[str]) -> Steps:
    yield NEVER


def saying(*lines: str, status: int = 0, stderr: str = "") -> Script:
    def script(argv: Sequence[str]) -> Steps:
        yield from lines
        return Exit(status, stderr)

    return script


def lost(argv: Sequence[str]) -> Steps:
    yield LOSS


def waiting(argv: Sequence[str]) -> Steps:
    while (yield LINE) is not None:
        pass


def test_a_silent_client_is_given_up_soon_after_its_server_ended() -> None:
    server = running(
        "b", saying('{"event":"error","code":"timeout","message":"no echo"}', status=1)
    )
    with pytest.raises(EngineError, match=r"engine on a .* server on b had ended \(no echo\)") as e:
        list(events(running("a", silent), server, 1000.0))
    assert e.value.code == "no-answer"


def test_a_server_host_that_is_lost_is_blamed_while_the_client_is_silent() -> None:
    with pytest.raises(HostUnreachableError) as error:
        list(events(running("a", silent), running("b", lost), 1000.0))
    assert error.value.host == "b"


def test_a_client_that_fails_as_its_servers_host_is_lost_is_not_to_blame() -> None:
    with pytest.raises(HostUnreachableError) as error:
        list(events(running("a", saying(PEER_LOST)), running("b", lost), 1000.0))
    assert error.value.host == "b"


def test_a_client_whose_server_is_content_and_silent_says_itself_what_failed() -> None:
    event_stream: Iterator[object] = events(
        running("a", saying(PEER_LOST)), running("b", waiting), 1000.0
    )
    assert list(event_stream) == [Failed("peer-lost", "the server hung up", None)]


@pytest.mark.parametrize("code", ["peer-lost", "mpi-failed"])
def test_a_job_that_mpi_or_its_launcher_ended_says_what_others_wrote(code: str) -> None:
    failure = PEER_LOST.replace("peer-lost", code)
    launcher = saying(failure, status=1, stderr="rail-mpi: rank 3 on n2: no memory\n")
    assert list(events(running("a", launcher), None, 10.0)) == [
        Failed(code, "the server hung up: rail-mpi: rank 3 on n2: no memory", None)
    ]


def test_of_much_that_others_wrote_the_first_is_shown_which_says_what_failed() -> None:
    words = "rank 3: Segmentation fault" + 2000 * "-" + "srun: task 1: Exited\n"
    (failed,) = events(running("a", saying(PEER_LOST, status=1, stderr=words)), None, 10.0)
    assert isinstance(failed, Failed)
    assert ": rank 3: Segmentation fault-" in failed.message
    assert failed.message.endswith("-srun: task 1: Exited")
    assert len(failed.message) < 1200


def test_a_client_is_given_up_when_its_patience_ends_though_the_server_runs() -> None:
    with pytest.raises(EngineError, match=r"engine on a said nothing for 1\.2 s"):
        list(events(running("a", silent), running("b", waiting), 1.2))


@pytest.mark.parametrize("words", ["not found", "Permission denied"])
def test_a_host_that_cannot_start_its_engine_is_lost_to_the_run(tmp_path: Path, words: str) -> None:
    engine = tmp_path / "rail-tcp"
    if words != "not found":
        engine.touch(0o644)

    def follow_client(client: RunningProgram) -> None:
        list(events(client, None, 60))

    def await_server(server: RunningProgram) -> None:
        listening_port(server, "tcp", 60)

    for follow in (follow_client, await_server):
        with (
            RunningPrograms().start(LocalTransport("a"), [str(engine)]) as process,
            pytest.raises(HostUnreachableError, match=f"a: can't start .*{words}") as error,
        ):
            follow(RunningProgram("a", process))
        assert error.value.host == "a"


def test_a_launcher_that_cannot_start_a_rank_fails_the_replication_alone() -> None:
    launcher = saying(status=127, stderr="mpirun: no rail-mpi on n2\n")
    with pytest.raises(EngineError, match=r"status 127 .*no rail-mpi on n2") as error:
        list(events(running("a", launcher), None, 10.0))
    assert error.value.code == "engine-lost"
