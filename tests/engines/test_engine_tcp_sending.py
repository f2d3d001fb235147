"""What rail-tcp's client sends, by every way there is, as a receiver in Python gets it."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.support.tcp_sink import Sink

SENDS = ["send", "write", "sendfile", "zerocopy", "splice"]
PLAIN = "--congestion=system"


def _run(engines, sink: Sink, *options: object, count: int = 1):
    arguments = ("--json", f"--port={sink.port}", f"--replications={count}", PLAIN)
    return engines.run("tcp", "client", "127.0.0.1", *arguments, *options)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module")
def folder_of_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """Three files, a folder between them, and what they hold in the order of their names."""
    place = tmp_path_factory.mktemp("set")
    content = b""
    for name, size in (("a", 1), ("b", 300_007), ("d", 65536)):
        data = random.Random(name).randbytes(size)
        (place / name).write_bytes(data)
        content += data
    (place / "c").mkdir()
    return place, content


@pytest.mark.parametrize("send", SENDS)
@pytest.mark.parametrize("blocking", ["true", "false"])
@pytest.mark.parametrize("write", [0, 7001])
def test_files_arrive_unchanged_and_in_the_order_of_their_names(
    engines, folder_of_files, send: str, blocking: str, write: int
) -> None:
    place, content = folder_of_files
    options = (f"--send={send}", f"--file={place}", f"--blocking={blocking}", f"--write={write}")
    with Sink() as sink:
        # A buffer that is soon full: the calls take parts.
        outcome = _run(engines, sink, *options, "--count=30", "--sockbuf=20KiB", count=2)
    for m in outcome.metrics:
        assert (m["sent_messages"], m["sent_bytes"]) == (30, 10 * len(content))
    assert _digest(sink.brought[0]) == _digest(content * 10)
    assert outcome.settings["client"]["source"] == "file"
    assert outcome.settings["client"]["files"] == 3
    assert outcome.settings["client"]["file_bytes"] == len(content)
    assert outcome.settings["client"]["blocking"] is (blocking == "true")


@pytest.mark.parametrize("send", SENDS)
@pytest.mark.parametrize("cork", ["true", "false"])
def test_what_is_made_in_memory_arrives_whole(engines, send: str, cork: str) -> None:
    with Sink() as sink:
        options = (f"--send={send}", "--message=123457", "--count=20", f"--cork={cork}")
        outcome = _run(engines, sink, *options)
    (m,) = outcome.metrics
    assert (m["sent_messages"], m["sent_bytes"]) == (20, 20 * 123457)
    assert set(sink.brought[0]) == {sink.brought[0][0]}
    assert len(sink.brought[0]) == 20 * 123457
    assert outcome.settings["client"]["cork"] is (cork == "true")
    source = "file" if send in ("sendfile", "splice") else "memory"
    assert outcome.settings["client"]["source"] == source


def test_files_can_be_made_in_memory(engines) -> None:
    with Sink() as sink:
        outcome = _run(engines, sink, "--source=file", "--files=7", "--message=1000", "--count=21")
    assert outcome.settings["client"]["files"] == 7
    assert outcome.settings["client"]["file_bytes"] == 7000
    assert len(sink.brought[0]) == 21_000


def test_a_replication_by_time_ends_with_what_it_counted(engines, folder_of_files) -> None:
    place, content = folder_of_files
    with Sink() as sink:
        run = _run(engines, sink, "--send=splice", f"--file={place}", "--duration=100ms", count=2)
    sent = int(run.metrics[-1]["sent_bytes"])
    repeated = content * (sent // len(content) + 1)
    assert _digest(sink.brought[0]) == _digest(repeated[:sent])


@pytest.mark.parametrize(("scaling", "shares"), [("strong", [4, 4, 3]), ("weak", [11, 11, 11])])
def test_scaling_shares_the_messages_or_gives_as_many_to_each(engines, scaling, shares) -> None:
    with Sink(connections=3) as sink:
        options = ("--threads=3", "--count=11", "--message=50000", f"--scaling={scaling}")
        (m,) = _run(engines, sink, *options).metrics
    assert [len(data) // 50000 for data in sink.brought] == shares
    assert m["sent_bytes"] == m["received_bytes"] == sum(shares) * 50000
    assert m["sent_messages"] == sum(shares)


def test_a_thread_without_a_share_sends_nothing(engines) -> None:
    with Sink(connections=3) as sink:
        options = ("--threads=3", "--count=2", "--message=50000", "--scaling=strong")
        assert _run(engines, sink, *options).metrics
    assert [len(data) for data in sink.brought] == [50000, 50000, 0]


def test_a_thread_without_a_share_sends_nothing_that_counts(engines) -> None:
    options = ("--threads=3", "--count=2", "--message=1460", "--scaling=strong", "--omit=20ms")
    with Sink(connections=3) as sink:
        (m,) = _run(engines, sink, *options, "--rate=40Mbit/s").metrics
    assert (m["sent_messages"], m["sent_bytes"]) == (2, 2 * 1460)


def test_every_connection_gets_a_file_set_of_its_own(engines, folder_of_files) -> None:
    place, content = folder_of_files
    with Sink(connections=2) as sink:
        options = ("--threads=2", "--count=3", "--send=sendfile", f"--file={place}")
        assert _run(engines, sink, *options).metrics
    assert [_digest(data) for data in sink.brought] == [_digest(content)] * 2


def test_cork_fills_segments_that_nodelay_would_send_one_by_one(engines) -> None:
    """Four calls a message, few enough for the first congestion window, so that nothing waits and
    is joined: two segments or eight, and the greeting's; one may be probed for and come twice."""
    for cork, segments in (("true", {3, 4}), ("false", {9, 10})):
        with Sink() as sink:
            options = ("--message=400", "--write=100", "--count=2", f"--cork={cork}")
            (m,) = _run(engines, sink, *options).metrics
        assert sink.segments[0] in segments
        assert m["sent_segments"] >= sink.segments[0]


def test_zero_copy_that_copies_is_warned_of_once_and_measured(engines) -> None:
    # More than a connection holds before a late receiver's first read.
    options = ("--send=zerocopy", "--count=64", PLAIN)
    outcome = engines.client(engines.server("tcp"), *options, count=3)
    assert [m["zerocopy_copied"] for m in outcome.metrics] == [1, 1, 1]  # loopback always copies
    assert [w["code"] for w in outcome.of("warning")] == ["zerocopy-copied"]
    plain = engines.client(engines.server("tcp"), "--count=64", PLAIN)
    assert all("zerocopy_copied" not in m for m in plain.metrics)


def _empty(place: Path) -> Path:
    (place / "empty").touch()
    return place / "empty"


def _bare(place: Path) -> Path:
    (place / "bare/sub").mkdir(parents=True)
    return place / "bare"


def _pipe(place: Path) -> Path:
    os.mkfifo(place / "pipe")
    return place / "pipe"


def _with_empty(place: Path) -> Path:
    (place / "set").mkdir()
    (place / "set/a").write_bytes(b"x")
    (place / "set/b").touch()
    return place / "set"


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda place: place / "none", "No such file"),
        (_empty, "empty"),
        (_bare, "no regular file"),
        (_pipe, "neither a regular file nor a folder"),
        (_with_empty, "empty"),
    ],
)
@pytest.mark.parametrize("send", ["send", "sendfile"])
def test_a_file_that_cannot_be_sent_is_refused(engines, tmp_path, make, word, send) -> None:
    path = make(tmp_path)
    outcome = engines.client(engines.server("tcp"), f"--file={path}", f"--send={send}", PLAIN)
    assert outcome.error["code"] == "file-unusable"
    assert word in outcome.error["message"]
    assert str(path) in outcome.error["message"]


@pytest.mark.parametrize(
    ("huge", "code"),
    [
        (("--send=sendfile", "--files=4096"), "out-of-memory"),
        (("--threads=64",), "out-of-memory"),
        # By the server, beyond what a session gets.
        (("--threads=64", "--read=1GiB"), "limit-exceeded"),
    ],
)
def test_more_memory_than_there_is_is_not_even_touched(engines, huge, code, require) -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    require(memory < 128 << 30, "less than 128 GiB of memory")
    outcome = engines.client(engines.server("tcp"), "--message=1GiB", *huge, PLAIN)
    assert outcome.error["code"] == code


@pytest.mark.parametrize("send", SENDS)
def test_a_file_that_shrinks_gives_no_number(engines, tmp_path, send: str) -> None:
    file = tmp_path / "shrinking"
    file.write_bytes(bytes(8 << 20))
    server = engines.server("tcp")
    client = engines.start_client(server, f"--file={file}", f"--send={send}", PLAIN)
    os.truncate(file, 5000)
    outcome = client.finish()
    assert outcome.error["code"] == "file-changed"
    assert str(file) in outcome.error["message"]
    assert outcome.of("replication") == []
    assert engines.client(server, "--count=64", PLAIN, count=1).metrics  # and the next is served


def test_a_series_of_message_sizes_has_a_launch_for_each(engines) -> None:
    server = engines.server("tcp")
    # Paced: a receiver that gets its CPU late doesn't have it all in one read.
    options = ("--mode=exponential", "--message=5000", "--rate=2Mbit/s", "--duration=300ms", PLAIN)
    outcome = engines.client(server, *options, count=1)
    sizes = [s["parameters"]["message"] for s in outcome.of("settings")]
    assert sizes == [*(2**n for n in range(13)), 5000]
    for size, m in zip(sizes, outcome.metrics, strict=True):
        assert m["received_bytes"] == m["sent_bytes"]
        assert m["sent_bytes"] // size == m["sent_messages"]


@pytest.mark.parametrize("send", ["send", "sendfile"])
def test_the_time_ends_within_a_call_that_the_kernel_holds(engines, send: str, paced) -> None:
    large = 8 << 20
    options = (f"--send={send}", f"--message={large}", "--sockbuf=20KiB", "--duration=50ms")

    def measure() -> dict[str, float]:
        with Sink(idle=1.1) as sink:
            (m,) = _run(engines, sink, *options).metrics
        assert m["sent_bytes"] == len(sink.brought[0])
        return m

    paced(
        measure,
        lambda m: m["client_elapsed"] < 0.9 and m["sent_messages"] == 0 < m["sent_bytes"] < large,
    )


def test_a_client_that_was_stopped_still_hears_that_its_connection_is_taken_up(engines) -> None:
    """Then recv(2) ends with EINTR, as its socket has a timeout: signal(7)."""

    def await_state(state: str) -> None:
        while Path(f"/proc/{client.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != state:
            time.sleep(0.001)

    def stop_and_go_on() -> None:
        await_state("S")
        client.process.send_signal(signal.SIGSTOP)
        await_state("T")
        client.process.send_signal(signal.SIGCONT)

    with Sink(before_answer=stop_and_go_on) as sink:
        arguments = ("--json", f"--port={sink.port}", "--replications=1", "--count=9", PLAIN)
        client = engines.start("tcp", "client", "127.0.0.1", *arguments)
        assert client.finish().metrics


def test_the_acknowledgement_of_the_end_alone_is_not_waited_for(
    shipped_engines, tmp_path: Path
) -> None:
    """A receiver may delay it by 40 ms; one that never comes would fail the replication."""
    source, library = Path(__file__).with_name("unacknowledged_fin.c"), tmp_path / "fin.so"
    subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source], check=True
    )
    with Sink() as sink:
        options = ("--json", f"--port={sink.port}", "--replications=1", "--count=3", PLAIN)
        client = shipped_engines.start(
            "tcp", "client", "127.0.0.1", *options, LD_PRELOAD=str(library)
        )
        (m,) = client.finish().metrics
    assert m["sent_bytes"] == len(sink.brought[0])


def test_segments_are_counted_beyond_the_kernels_32_bits(shipped_engines, tmp_path: Path) -> None:
    source, library = Path(__file__).with_name("many_segments.c"), tmp_path / "segments.so"
    subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source], check=True
    )
    server = shipped_engines.server("tcp")
    options = ("--json", f"--port={server.port}", "--replications=1", "--omit=0.5s", PLAIN)
    paced = ("--duration=0.7s", "--rate=80Mbit/s", "--mss=1000", "--message=5000")
    client = shipped_engines.start(
        "tcp", "client", "127.0.0.1", *options, *paced, LD_PRELOAD=str(library)
    )
    (m,) = client.finish().metrics
    for way in ("", "omitted_"):
        segments, rest = divmod(m[f"{way}sent_segments"], 1_000_000)
        assert rest == 0
        assert m[f"{way}sent_bytes"] / 1000 * 0.9 < segments < m[f"{way}sent_bytes"] / 1000 * 2
