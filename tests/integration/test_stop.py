"""What a controller that is stopped leaves: none of others' programs here, and a run that ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.foreign import TwoSleeps
from tests.support.results import select

PLAN = """\
railgauge: 1
name: stop
hosts:
  here: {{address: 127.0.0.1, transport: local}}
tests:
  - name: foreign
    engine: command
    hosts: [here]
    set: {{command: "{command}"}}
"""


@pytest.fixture
def sleeps() -> Iterator[TwoSleeps]:
    sleeps = TwoSleeps()
    yield sleeps
    sleeps.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_stopped_controller_leaves_nothing_of_a_foreign_command(
    tmp_path: Path, sleeps: TwoSleeps, number: signal.Signals
) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.format(command=sleeps.command))
    controller = command_line.Popen(
        [*command_line.COMMAND, "run", "plan.yaml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        assert sleeps.started()
        controller.send_signal(number)
        output = controller.communicate(timeout=60)[0].decode()
    finally:
        controller.kill()
        controller.communicate()
    assert sleeps.ended()
    assert "Traceback" not in output
    assert controller.returncode == (-number if number == signal.SIGKILL else 130)


def test_a_run_that_is_stopped_after_its_last_replication_is_complete(tmp_path: Path) -> None:
    """What may follow, half a second of the idle machine's log, is waited for."""
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        (folder / "plan.yaml").write_text(PLAN.format(command="true") + "    replications: 1\n")
        with command_line.Popen(
            [*command_line.COMMAND, "run", "plan.yaml"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as controller:
            while not _stored(folder, "replication"):
                assert controller.poll() is None or _stored(folder, "replication")
                time.sleep(0.01)
            controller.send_signal(signal.SIGTERM)
            output, _ = controller.communicate(timeout=60)
        assert _stored(folder, "run WHERE state = 'complete'") == 1
        # One that came after the whole run stops the table that is printed, or Python that ends.
        if controller.returncode == 0:
            break
    assert controller.returncode == 0, output
    assert "1 measured" in output


def test_a_second_signal_while_it_tidies_up_leaves_the_word_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.format(command="sleep 0.5"))
    with command_line.Popen(
        [*command_line.COMMAND, "run", "plan.yaml"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as controller:
        while not _stored(tmp_path, "replication"):
            assert controller.poll() is None
            time.sleep(0.01)
        # It is given a second to end before it is killed.
        (watcher,) = descendants_of(controller.pid, "rail-watch")
        os.kill(watcher, signal.SIGSTOP)
        controller.send_signal(signal.SIGTERM)
        while not _stored(tmp_path, "run WHERE state = 'interrupted'"):
            assert controller.poll() is None
            time.sleep(0.01)
        controller.send_signal(signal.SIGINT)
        _, err = controller.communicate(timeout=60)
    # A signal that comes late may find a Python that ends.
    assert controller.returncode in (130, -signal.SIGINT)
    assert "stopped: " in err
    assert "railgauge resume 1" in err
    assert "Traceback" not in err


# What is called between the end of a stopped run and the word how to go on, and to print this.
SIGNALS_ITSELF = """\
import os, signal
from railgauge import cli
from railgauge.store import Store

signals = [signal.SIGINT]

def signalling(*arguments, original={name}):
    while signals:
        os.kill(os.getpid(), signals.pop())
    return original(*arguments)

{name} = signalling
cli.main()
"""


@pytest.mark.parametrize("name", ["Store.command", "cli._print_error", "cli._printable"])
def test_a_second_signal_before_the_word_how_to_go_on_leaves_that(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.format(command="sleep 0.5"))
    with subprocess.Popen(
        [sys.executable, "-c", SIGNALS_ITSELF.format(name=name), "run", "plan.yaml"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as controller:
        while not _stored(tmp_path, "replication"):
            assert controller.poll() is None
            time.sleep(0.01)
        controller.send_signal(signal.SIGTERM)
        _, err = controller.communicate(timeout=60)
    assert controller.returncode == 130, err
    assert "stopped: " in err
    assert "railgauge resume 1" in err


def test_a_signal_before_the_command_is_read_shows_no_traceback() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", SIGNALS_ITSELF.format(name="cli._lenient"), "list"],
        capture_output=True,
        text=True,
    )
    assert (completed.returncode, completed.stderr) == (130, "railgauge: stopped\n")


def _stored(folder: Path, rows: str) -> int:
    try:
        ((count,),) = select(folder, f"SELECT count(*) FROM {rows}")
    except sqlite3.OperationalError:
        return 0
    return int(count)


STANDING = """\
railgauge: 1
name: standing
hosts:
  here: {address: 127.0.0.1, transport: local}
  there: {address: 127.0.0.2, transport: local}
links: {pair: {from: here, to: there}}
tests:
  - name: counted
    engine: tcp
    set: {mode: latency, count: 1000000000}
    replications: 1
    limit: 15s
  - name: foreign
    engine: command
    hosts: [here]
    set: {command: COMMAND}
    replications: 1
    limit: 2s
"""


def test_what_stands_still_is_ended_at_its_limit(
    tmp_path: Path, process_ends: Callable[[int], bool]
) -> None:
    plan = STANDING.replace("COMMAND", "sh -c 'kill -STOP $$'")
    (tmp_path / "plan.yaml").write_text(plan)
    controller = command_line.Popen(
        [*command_line.COMMAND, "run", "plan.yaml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        # Each end and what launched it.
        while len(ends := descendants_of(controller.pid, "rail-tcp")) < 4:
            assert controller.poll() is None, controller.communicate()[0]
            time.sleep(0.02)
        for end in ends:
            os.kill(end, signal.SIGSTOP)
        output = controller.communicate(timeout=120)[0]
    finally:
        controller.kill()
        controller.communicate()
    assert controller.returncode == 1, output
    failed = select(tmp_path, "SELECT status, error_code FROM replication")
    assert failed == [("failed", "no-answer")] * 2
    for limit in (2, 15):
        assert output.count(f"said nothing for {limit} s") == 1
    assert all(process_ends(end) for end in ends)


def descendants_of(controller: int, name: str) -> list[int]:
    """Return the programs of that name that the controller has started, by its shells."""
    pids = []
    for children in Path(f"/proc/{controller}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                if Path(f"/proc/{child}/comm").read_text() == f"{name}\n":
                    pids.append(child)
                pids += descendants_of(child, name)
    return pids
