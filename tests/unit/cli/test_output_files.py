"""Files that a command writes beside what it prints."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.cli.output_files import check_outputs, opened_to_add, write
from railgauge.cli.running import run
from railgauge.run.progress import PlainProgress

FULL = Path("/dev/full")


def test_a_log_that_found_its_disk_full_is_told_at_the_end() -> None:
    with (
        pytest.raises(EnvironmentFailedError, match="can't write /dev/full: No space left"),
        opened_to_add(FULL) as stream,
    ):
        PlainProgress(stream).say("reaching gw1")


def test_what_failed_before_a_log_did_is_told_in_its_place() -> None:
    with pytest.raises(KeyError), opened_to_add(FULL) as stream:
        PlainProgress(stream).say("reaching gw1")
        raise KeyError


def test_a_log_into_no_folder_is_refused_before_anything_is_reached(tmp_path: Path) -> None:
    arguments = ["quickstart", "--log", str(tmp_path / "none" / "run.log")]
    with pytest.raises(InputError, match=r"there is no folder .*: make it"):
        run.main([*arguments, "--db", str(tmp_path / "r.db")], standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def add(file: Path) -> None:
    with opened_to_add(file) as stream:
        stream.write("mine")


WRITERS = [lambda file: write(file, "mine"), lambda file: write(file, "mine", append=True), add]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes another user's link")
@pytest.mark.parametrize("writer", WRITERS)
def test_another_users_link_is_not_followed(tmp_path: Path, writer: Callable[[Path], None]) -> None:
    target, link = tmp_path / "target", tmp_path / "verdict.xml"
    target.write_text("theirs")
    link.symlink_to(target)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    with pytest.raises(InputError, match=r"verdict\.xml is another user's link: name another"):
        check_outputs(link)
    with pytest.raises(EnvironmentFailedError, match=r"verdict\.xml: it is another user's link"):
        writer(link)
    assert target.read_text() == "theirs"


@pytest.mark.parametrize("writer", WRITERS)
def test_a_link_of_ones_own_is_followed_and_a_pipe_gets_what_is_written(
    tmp_path: Path, writer: Callable[[Path], None]
) -> None:
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    check_outputs(tmp_path / "link", tmp_path / "pipe", Path("/dev/stdout"))
    writer(tmp_path / "link")
    assert (tmp_path / "file").read_text() == "mine"
    thread = threading.Thread(target=writer, args=[tmp_path / "pipe"])
    thread.start()
    assert (tmp_path / "pipe").read_text() == "mine"
    thread.join()
    assert (tmp_path / "pipe").is_fifo()


def test_a_file_that_is_written_at_once_is_whole_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "verdict.xml"
    file.write_text("before")
    with file.open() as before:
        write(file, "mine")
        assert before.read() == "before"
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]
