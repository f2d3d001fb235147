"""What a person at a terminal sees: the live display, and Ctrl-C on the keyboard."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from tests.support import command_line

from railgauge.engine.outcome import Launch, Outcome
from railgauge.plan.cases import Case
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.schedule import Dispatch
from railgauge.run.execution import Outlook
from railgauge.run.progress import LiveProgress, PlainProgress, console

PLAN = """\
railgauge: 1
name: terminal
hosts:
  here: {address: 127.0.0.1, transport: local}
links:
  loop: {from: here, to: here}
tests:
  - name: stream
    engine: udp
    set: {duration: 200ms}
    replications: REPLICATIONS
"""
DISPATCH = Dispatch("stream", Case("k", "udp", "a[red]→b", "a", "b", {}), (1, 2, 3))


def name(dispatch: Dispatch) -> str:
    return f"{dispatch.test} {dispatch.case.link} datagram=64"


class Terminal:
    """railgauge in a pseudo-terminal of 100 columns."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.output = ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="xterm", COLUMNS="100", LINES="30")
            os.execv(sys.executable, [sys.executable, "-m", "railgauge", *arguments])

    def read_until(self, pattern: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.output):
            assert time.monotonic() < deadline, self.output
            ready, _, _ = select.select([self.descriptor], [], [], 0.5)
            if ready:
                try:
                    self.output += os.read(self.descriptor, 65536).decode(errors="replace")
                except OSError:
                    break
        assert re.search(pattern, self.output), self.output

    def press(self, key: bytes) -> None:
        os.write(self.descriptor, key)

    def end(self) -> int:
        while True:
            try:
                more = os.read(self.descriptor, 65536)
            except OSError:
                break
            if not more:
                break
            self.output += more.decode(errors="replace")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(status)


def test_a_terminal_shows_the_case_how_far_it_is_its_figure_and_the_time_left(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN.replace("REPLICATIONS", "5"))
    terminal = Terminal(tmp_path, "run", "plan.yaml")
    terminal.read_until(r"stream: loop.*[1-5]/5.*[KMG]?bit/s.*\d+:\d\d left")
    assert terminal.end() == 0
    assert "5 measured" in terminal.output


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN.replace("REPLICATIONS", "100"))
    terminal = Terminal(tmp_path, "run", "plan.yaml")
    terminal.read_until(r" ([2-9]|[1-9]\d)/100")
    terminal.press(b"\x03")
    assert terminal.end() == 130
    assert "railgauge resume 1" in terminal.output
    assert "failed" not in terminal.output
    assert "Traceback" not in terminal.output
    database = sqlite3.connect(tmp_path / "railgauge.db")
    rows = database.execute("SELECT status, count(*) FROM replication GROUP BY 1").fetchall()
    database.close()
    assert {status for status, _ in rows} <= {"ok", "suspect"}


def test_names_from_a_plan_are_never_markup_on_the_terminal(tmp_path):
    output = (tmp_path / "shown").open("w+")
    display = LiveProgress(console(output, force_terminal=True, width=100))
    display.begin(Outlook(1, 3, name, load_catalogue(), lambda: 61.0))
    display.dispatched(DISPATCH)
    display.measured(DISPATCH, Outcome(1, 0.0, {"throughput": 9.412e9}), Launch(0.0))
    display.measured(
        DISPATCH,
        Outcome(2, 0.0, {}, status="failed", error_code="no-data", error_message="[/bold] none"),
        Launch(0.0, warnings=("client: [b]small",)),
    )
    display.lost("a", "[gone]")
    display.end()
    output.seek(0)
    text = output.read()
    assert "a[red]→b" in text
    assert "[/bold] none [no-data]" in text
    assert "client: [b]small" in text
    assert "[gone]" in text


def test_a_log_gets_each_failure_and_each_warning_once(tmp_path):
    log = (tmp_path / "log").open("w+")
    display = PlainProgress(log)
    display.begin(Outlook(7, 3, name, load_catalogue(), lambda: 61.0))
    warned = Launch(0.0, warnings=("server: the buffer is small",))
    display.dispatched(DISPATCH)
    for number in (1, 2):
        display.measured(DISPATCH, Outcome(number, 0.0, {"throughput": 1e9}), warned)
    display.measured(
        DISPATCH,
        Outcome(3, 0.0, {}, status="failed", error_code="no-data", error_message="nothing came"),
        warned,
    )
    display.end()
    log.seek(0)
    text = log.read()
    assert text.count("the buffer is small") == 1
    assert "replication 3: nothing came [no-data]" in text
    assert "3/3 replications" in text


class Broken(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize(
    "display",
    [PlainProgress(Broken()), LiveProgress(console(Broken(), force_terminal=True))],
    ids=["plain", "live"],
)
def test_a_display_that_cannot_write_does_not_end_the_measurement(display):
    display.say("reaching a")
    display.begin(Outlook(1, 3, name, load_catalogue(), lambda: 61.0))
    display.dispatched(DISPATCH)
    failed = Outcome(1, 0.0, {}, status="failed", error_code="no-data", error_message="none")
    display.measured(DISPATCH, failed, Launch(0.0, warnings=("client: small",)))
    display.lost("a", "gone")
    display.end()


def test_a_long_warm_up_before_anything_is_measured_is_no_trouble_for_a_log(tmp_path):
    (tmp_path / "plan.yaml").write_text(
        PLAN.replace("REPLICATIONS", "1").replace("200ms", "100ms, warmup: 10.5s")
    )
    with (tmp_path / "log").open("w") as log:
        completed = command_line.run(
            [*command_line.COMMAND, "run", "plan.yaml"],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
            timeout=120,
        )
    assert completed.returncode == 0, (tmp_path / "log").read_text()
