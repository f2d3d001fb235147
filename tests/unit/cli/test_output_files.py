"""Files that a command writes beside what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.cli.output_files import opened_to_add
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
