"""Files that are whole or not there, in folders where others may have put links."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from railgauge.base.atomicfile import PART, atomic_file, write_atomic
from railgauge.base.errors import InputError
from railgauge.exchange.exporting.export import written_whole
from railgauge.report.document.write_report import _write
from railgauge.report.site.folder import Folder
from railgauge.report.site.mark import FileMark


def export(path: Path) -> None:
    with written_whole(path) as out:
        out.write(b"mine")


def report(path: Path) -> None:
    _write([(path.name, "mine")], path.parent)


def site(path: Path) -> None:
    Folder(path.parent).write({path.name: "mine\n</html>\n"}, FileMark("1"))


WRITERS = [export, report, site, lambda path: write_atomic(path, b"mine")]


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_under_the_name_that_a_writer_would_have_is_not_followed(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    target, mine = tmp_path / "theirs", tmp_path / "index.html"
    target.write_text("theirs")
    (tmp_path / f".index.html.{os.getpid()}.part").symlink_to(target)
    write(mine)
    assert target.read_text() == "theirs"
    assert mine.read_text().startswith("mine")
    assert not mine.is_symlink()


@pytest.mark.parametrize("write", WRITERS[1:])
def test_a_link_in_the_files_place_is_replaced(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "index.html").symlink_to("theirs")
    write(tmp_path / "index.html")
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert (tmp_path / "index.html").read_text().startswith("mine")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes another user's link")
def test_an_export_through_another_users_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out").symlink_to("mine")
    os.chown(tmp_path / "out", 65534, 65534, follow_symlinks=False)
    with pytest.raises(InputError, match="is another user's link"):
        export(tmp_path / "out")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(("umask", "rights"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_has_the_rights_that_open_gives(
    tmp_path: Path, write: Callable[[Path], None], umask: int, rights: int
) -> None:
    before = os.umask(umask)
    try:
        write(tmp_path / "index.html")
    finally:
        os.umask(before)
    assert (tmp_path / "index.html").stat().st_mode & 0o777 == rights


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    with pytest.raises(KeyboardInterrupt), atomic_file(tmp_path / "file") as out:
        (part,) = {file.name for file in tmp_path.iterdir()} - {"file"}
        assert PART.fullmatch(part)
        out.write(b"half")
        raise KeyboardInterrupt
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "before")]
