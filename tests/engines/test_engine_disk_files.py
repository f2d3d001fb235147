"""rail-disk's files: full of data, without a name, checked for room, and gone however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.engine_lab import Engines, Running

MIB = 1 << 20
# Refuses io_uring_setup (425 on every architecture) with EPERM, as containers do, and becomes the
# program. BPF: load the number of the system call, compare, return errno 1 or allow.
FORBID = """
import ctypes, os, struct, sys
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
words = b"".join(struct.pack("HBBI", *one) for one in code)
text = ctypes.create_string_buffer(words)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(code), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


def _start(engines: Engines, folder: Path, *options: str) -> Running:
    flags = (f"--folder={folder}", "--size=4MiB", "--duration=60s", "--replications=1")
    return engines.start("disk", "client", "--json", *flags, *options)


def _files(pid: int, folder: Path) -> list[Path]:
    """The open files of the process that were made in the folder."""
    links = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except FileNotFoundError:
            continue
        if target.startswith(f"{folder}/"):
            links.append(link)
    return sorted(links)


def _reading(engines: Engines, folder: Path, *options: str) -> Running:
    """Start it and wait until its files are laid out and it is at work."""
    running = _start(engines, folder, *options)
    assert running.event()["event"] == "settings"
    for _ in range(6000):
        counts = Path(f"/proc/{running.pid}/io").read_text(encoding="utf-8")
        calls = dict(line.split(": ") for line in counts.splitlines())
        if int(calls["rchar"]) > 8 * MIB or int(calls["wchar"]) > 16 * MIB:
            return running
        time.sleep(0.01)
    raise AssertionError(counts)


@pytest.mark.parametrize("mode", ["read", "random_write"])
def test_the_file_is_full_of_data_that_nothing_makes_smaller(
    engines, tmp_path: Path, mode: str
) -> None:
    running = _reading(engines, tmp_path, f"--mode={mode}", "--block=4KiB", "--io=psync")
    (link,) = _files(running.pid, tmp_path)
    data = link.read_bytes()
    assert len(data) == 4 * MIB
    assert len(zlib.compress(data)) > 0.995 * len(data)
    sectors = {data[at : at + 512] for at in range(0, len(data), 512)}
    assert len(sectors) == len(data) / 512


def test_each_thread_has_a_file_and_none_has_a_name(engines, tmp_path: Path) -> None:
    running = _reading(engines, tmp_path, "--threads=3", "--io=psync")
    links = _files(running.pid, tmp_path)
    assert [link.stat().st_size for link in links] == [4 * MIB] * 3
    assert len({link.stat().st_ino for link in links}) == 3
    assert all(link.stat().st_nlink == 0 for link in links)
    assert all(link.stat().st_mode & 0o077 == 0 for link in links)
    assert list(tmp_path.iterdir()) == []


def test_two_launches_have_different_data(engines, tmp_path: Path) -> None:
    heads = set()
    for _ in range(2):
        (link,) = _files(_reading(engines, tmp_path, "--io=psync").pid, tmp_path)
        heads.add(link.read_bytes()[:MIB])
    assert len(heads) == 2


def _ways_to_end() -> list[Callable[[Running], object]]:
    return [
        lambda running: running.process.kill(),
        lambda running: running.process.send_signal(signal.SIGTERM),
        lambda running: running.process.send_signal(signal.SIGINT),
        lambda running: running.close_input(),
    ]


@pytest.mark.parametrize("io", ["psync", "io_uring"])
@pytest.mark.parametrize("end", _ways_to_end(), ids=["kill -9", "TERM", "INT", "input"])
def test_however_it_ends_nothing_is_left(
    engines, tmp_path: Path, process_ends, end: Callable[[Running], object], io: str
) -> None:
    depth = "--depth=8" if io == "io_uring" else "--depth=1"
    options = ("--mode=random_write", "--direct=false", "--block=4KiB", "--threads=2")
    running = _start(engines, tmp_path, f"--io={io}", depth, *options)
    assert running.event()["event"] == "settings"
    links = _files(running.pid, tmp_path)
    assert len(links) == 2
    end(running)
    outcome = running.finish()
    assert outcome.status != 0
    assert outcome.of("replication") == outcome.of("done") == []
    assert process_ends(running.pid)
    assert list(tmp_path.iterdir()) == []


def test_a_deadline_ends_it_and_leaves_nothing(engines, tmp_path: Path) -> None:
    outcome = _start(engines, tmp_path, "--deadline=0.5s").finish()
    assert outcome.events[-1]["code"] == "deadline"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(engines, tmp_path: Path) -> None:
    for folder, reason in ((tmp_path / "none", "No such file"), (tmp_path / "file", "Not a dir")):
        (tmp_path / "file").write_text("precious")
        outcome = _start(engines, folder).finish()
        assert outcome.error["code"] == "file-unusable"
        assert reason in outcome.error["message"]
        assert str(folder) in outcome.error["message"]
        assert [x.name for x in tmp_path.iterdir()] == ["file"]
        assert (tmp_path / "file").read_text() == "precious"


def test_a_folder_behind_a_link_is_used(engines, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    running = _reading(engines, tmp_path / "link", "--io=psync")
    assert len(_files(running.pid, tmp_path / "real")) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_may_not_be_written_is_told(engines, tmp_path: Path) -> None:
    argv = engines.argv("disk", "client", "--json", "--folder=/", "--size=1MiB")
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    with tempfile.TemporaryDirectory(prefix="rail-disk-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        program = shutil.copy(argv[0], folder)
        outcome = engines.start_other(*user, program, *argv[1:]).finish()
    assert outcome.error["code"] == "file-unusable"
    assert "Permission denied" in outcome.error["message"]


def test_more_than_there_is_room_for_is_refused_before_anything_is_written(
    engines, tmp_path: Path
) -> None:
    free = os.statvfs(tmp_path)
    available = free.f_bavail * free.f_frsize
    half = available // 2 + MIB  # two files of it are too much, one isn't
    outcome = _start(engines, tmp_path, f"--size={half}", "--threads=2").finish()
    assert (outcome.status, outcome.error["code"]) == (1, "no-space")
    assert "MiB free" in outcome.error["message"]
    assert len(outcome.events) == 1
    now = os.statvfs(tmp_path)
    assert abs(now.f_bavail * now.f_frsize - available) < 1 << 30


@contextmanager
def _mounted(require, place: Path, *options: str) -> Iterator[Path]:
    require(os.geteuid() == 0, "root, to mount a small file system")
    place.mkdir()
    subprocess.run(["mount", *options, str(place)], check=True)
    try:
        yield place
    finally:
        # At once; what else has a hand on it (a ring, another mount namespace) lets go later.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_small_file_system_keeps_some_room(engines, tmp_path: Path, require) -> None:
    with _mounted(require, tmp_path / "s", "-t", "tmpfs", "-o", "size=8m", "tmpfs") as small:
        options = ("--block=4KiB", "--direct=false", "--duration=0")
        outcome = _start(engines, small, "--size=7900KiB", *options).finish()
        assert outcome.error["code"] == "no-space"
        outcome = _start(engines, small, "--size=7500KiB", *options).finish()
        assert outcome.metrics
        assert os.statvfs(small).f_bavail == os.statvfs(small).f_blocks


def test_a_disk_that_fails_in_the_middle_gives_no_number_and_leaves_no_file(
    engines, tmp_path: Path, require
) -> None:
    """A file system that believes to have 64 MiB, on a disk that has 16."""
    require(Path("/dev/loop-control").exists(), "loop devices")
    require(shutil.which("mkfs.ext4"), "mkfs.ext4 (e2fsprogs)")
    with _mounted(require, tmp_path / "thin", "-t", "tmpfs", "-o", "size=16m", "none") as thin:
        image = thin / "image"
        with image.open("wb") as file:
            file.truncate(64 * MIB)
        quiet = {"capture_output": True, "check": True}
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", str(image)], **quiet)
        place = _mounted(require, tmp_path / "broken", "-o", "loop", str(image))
        with place as folder:
            before = sorted(x.name for x in folder.iterdir())
            outcome = _start(engines, folder, "--size=40MiB", "--mode=write").finish()
            assert outcome.error["code"] in ("system-error", "no-space")
            assert str(folder) in outcome.error["message"]
            assert outcome.of("replication") == []
            assert sorted(x.name for x in folder.iterdir()) == before


def test_a_limit_on_file_sizes_is_an_error_and_not_a_signal(engines, tmp_path: Path) -> None:
    argv = engines.argv("disk", "client", "--json", f"--folder={tmp_path}", "--size=4MiB")
    outcome = engines.start_other("bash", "-c", 'ulimit -f 1024; exec "$@"', "bash", *argv).finish()
    assert (outcome.status, outcome.error["code"]) == (1, "no-space")
    assert "ulimit -f" in outcome.error["message"]
    assert list(tmp_path.iterdir()) == []


def _without_io_uring(engines: Engines, folder: Path, *options: str) -> Running:
    flags = (f"--folder={folder}", "--size=1MiB", "--duration=0", "--replications=1", *options)
    argv = engines.argv("disk", "client", "--json", *flags)
    return engines.start_other(sys.executable, "-c", FORBID, *argv)


def test_where_io_uring_is_forbidden_it_does_without_and_says_why(engines, tmp_path: Path) -> None:
    outcome = _without_io_uring(engines, tmp_path).finish()
    assert len(outcome.metrics) == 1
    settings = next(e for e in outcome.events if e["event"] == "settings")["client"]
    assert settings["io"] == "psync"
    assert "io_uring_disabled" in settings["io_reason"]


@pytest.mark.parametrize("options", [("--io=io_uring",), ("--depth=32",)])
def test_what_needs_io_uring_fails_where_it_is_forbidden(
    engines, tmp_path: Path, options: tuple[str, ...]
) -> None:
    outcome = _without_io_uring(engines, tmp_path, *options).finish()
    assert (outcome.status, outcome.error["code"]) == (1, "no-io-uring")
    assert "forbidden" in outcome.error["message"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_user_without_memory_to_lock_measures_too(engines, tmp_path: Path) -> None:
    argv = engines.argv("disk", "client", "--json", "--folder=.", "--size=1MiB", "--depth=32")
    user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o777)
    subprocess.run(["cp", argv[0], str(tmp_path / "rail-disk")], check=True)
    script = f'cd {tmp_path} && ulimit -l 64 && exec {user} ./rail-disk "$@"'
    options = ("--mode=random_write", "--block=4KiB", "--duration=0", "--replications=1")
    outcome = engines.start_other("bash", "-c", script, "bash", *argv[1:], *options).finish()
    assert outcome.metrics[0]["bytes"] == MIB
    assert outcome.settings["client"]["registered_buffers"] is False
