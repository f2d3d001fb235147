"""rail-exec's working folder: files for the command, the file with its figures, nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest


def run(engines, tmp_path: Path, *arguments: object, count: int = 1):
    """Run rail-exec with `tmp_path` for its working folders."""
    options = ("client", "--json", f"--replications={count}", *arguments)
    return engines.start("exec", *options, TMPDIR=str(tmp_path)).finish()


def folder_removed(tmp_path: Path) -> bool:
    """Whether no working folder is left there within a minute."""
    for _ in range(6000):
        if not [*tmp_path.glob("railgauge-work.*")]:
            return True
        time.sleep(0.01)
    return False


def test_the_command_finds_its_files_in_a_folder_of_its_own(engines, tmp_path: Path) -> None:
    text = 'two lines,\n"quoted" $HOME \\ and ümlaut'
    script = "pwd; cat in.dat; ls"
    command = ("--", "in.dat", text, "other", "", "sh", "-c", script)
    (event,) = run(engines, tmp_path, "--files=2", *command).of("replication")
    place, _, rest = event["output"].partition("\n")
    assert place.startswith(f"{tmp_path}/railgauge-work.")
    assert rest == f"{text}in.dat\nother\n"
    assert folder_removed(tmp_path)


def test_the_folder_is_made_where_it_is_wanted(engines, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    command = (f"--work-in={tmp_path / 'disk'}", "--", "sh", "-c", "pwd; touch left")
    (event,) = run(engines, tmp_path, *command).of("replication")
    assert event["output"].startswith(f"{tmp_path}/disk/railgauge-work.")
    assert not [*(tmp_path / "disk").iterdir()]


def test_a_files_text_takes_the_place_of_the_output(engines, tmp_path: Path) -> None:
    command = ("--", "sh", "-c", "echo to nobody; mkdir -p d/e; echo $$ >>out.txt")
    outcome = run(engines, tmp_path, "--output-file=out.txt", *command, count=3)
    outputs = [event["output"] for event in outcome.of("replication")]
    # Each replication has a fresh folder: of the last one's file nothing is seen.
    assert len(outputs) == len(set(outputs)) == 3
    assert all(text.strip().isdigit() for text in outputs)
    assert folder_removed(tmp_path)


def test_no_folder_is_left_of_a_process_that_was_killed_when_it_had_just_been_made(
    shipped_engines, tmp_path: Path
) -> None:
    library = tmp_path / "deadly.so"
    source = Path(__file__).with_name("deadly_folder.c")
    command = ["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True)
    options = ("client", "--json", "--output-file=a", "--", "true")
    environment = {"TMPDIR": str(tmp_path), "LD_PRELOAD": str(library)}
    running = shipped_engines.start("exec", *options, **environment)
    assert running.process.wait(60) == -signal.SIGKILL
    assert folder_removed(tmp_path)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("true", "the command wrote no file 'out.txt'"),
        ("ln -s /etc/passwd out.txt", "cannot open 'out.txt'"),
        ("mkdir out.txt", "cannot read 'out.txt'"),
    ],
)
def test_a_file_that_is_none_gives_no_figures(
    engines, tmp_path: Path, script: str, says: str
) -> None:
    outcome = run(engines, tmp_path, "--output-file=out.txt", "--", "sh", "-c", script)
    assert outcome.error["code"] == "file-unusable"
    assert says in outcome.error["message"]
    assert folder_removed(tmp_path)


def test_a_pipe_in_place_of_the_file_holds_nobody_up(engines, tmp_path: Path) -> None:
    outcome = run(engines, tmp_path, "--output-file=out.txt", "--", "mkfifo", "out.txt")
    assert outcome.of("replication")[0]["output"] == ""
    assert folder_removed(tmp_path)


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "", "a/b"])
def test_a_file_lies_nowhere_but_in_the_folder(engines, tmp_path: Path, name: str) -> None:
    outcome = run(engines, tmp_path, "--files=1", "--", name, "text", "true")
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")
    assert folder_removed(tmp_path)


def test_files_without_a_command_are_refused(engines, tmp_path: Path) -> None:
    outcome = run(engines, tmp_path, "--files=1", "--", "name", "text")
    assert (outcome.status, outcome.error["code"]) == (2, "bad-parameter")


@pytest.mark.parametrize("end", ["input", "deadline", "fails", signal.SIGTERM, signal.SIGKILL])
def test_the_folder_goes_however_it_ends(engines, tmp_path: Path, end: object) -> None:
    script = "mkdir -p a/b; chmod 700 a; touch a/b/c; touch ready; exec sleep 600"
    if end == "fails":
        script = "mkdir a; exit 3"
    deadline = ("--deadline=1s",) if end == "deadline" else ()
    options = ("client", "--json", "--files=1", *deadline, "--", "f", "x", "sh", "-c", script)
    running = engines.start("exec", *options, TMPDIR=str(tmp_path))
    if end not in ("fails", "deadline"):
        for _ in range(3000):
            if [*tmp_path.glob("railgauge-work.*/ready")]:
                break
            time.sleep(0.01)
        assert [*tmp_path.glob("railgauge-work.*/f")]
    if end == "input":
        running.close_input()
    elif isinstance(end, signal.Signals):
        os.kill(running.pid, end)
    running.process.wait(timeout=30)
    assert folder_removed(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(engines, tmp_path: Path) -> None:
    outcome = run(engines, tmp_path / "nowhere", "--files=1", "--", "f", "x", "true")
    assert outcome.error["code"] == "file-unusable"
    assert "nowhere" in outcome.error["message"]
