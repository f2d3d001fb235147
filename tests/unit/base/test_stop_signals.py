"""Ctrl-C while the main thread waits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SIGNALLED = """
import math, queue, signal, threading, time
from railgauge.base.stop_signals import calling_on_signal, get_interruptibly

messages = queue.SimpleQueue()

def elsewhere():
    time.sleep(0.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

with calling_on_signal(lambda: messages.put("stop")):
    threading.Thread(target=elsewhere).start()
    print(get_interruptibly(messages, math.inf))
"""


# What a worker does: it gets the signal, and doesn't end before it is seen.
WORKING = """
import signal, sys, threading, time
from pathlib import Path
from railgauge.base.side_by_side import everywhere
from railgauge.base.stop_signals import raise_keyboard_interrupt

over = threading.Event()

def work(machine):
    time.sleep(0.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    over.wait()

def build(folder):
    from railgauge.report.site.folder import Folder
    with Folder(folder).locked(lambda: None):
        other = Folder(folder)
        with other.locked(lambda: threading.Thread(target=work, args=[""]).start()):
            pass

def examine():
    from railgauge.lab.doctor.examine import _side_by_side
    list(_side_by_side(work, ["n1"]))

# Reads nothing, and takes less than it may: it ends unless it is ended.
SLOW = [sys.executable, "-c", "import time; time.sleep(50); open('ended', 'w')"]

def ask():
    from railgauge.schedulers.slurm import _ask
    threading.Thread(target=work, args=[""]).start()
    _ask(SLOW)

def tell():
    from railgauge.cli.notifying import notify
    threading.Thread(target=work, args=[""]).start()
    notify(SLOW, "x" * 2**20, 0)

def follow():
    from railgauge.engine.follow import RunningProgram, events
    from railgauge.hosts.transport.local import LocalTransport
    process = LocalTransport("here").start(["cat"])
    threading.Thread(target=work, args=[""]).start()
    try:
        list(events(RunningProgram("here", process), None, 3000))
    finally:
        process.kill()

raise_keyboard_interrupt()
try:
    eval(sys.argv[1])
except KeyboardInterrupt:
    print("ended" if Path("ended").exists() else "stopped")
over.set()
"""

# Python ignores what a weak reference's callback raises, and the signal's handler runs there.
IGNORED = """
import os, signal, time, weakref
from railgauge.base.stop_signals import raise_keyboard_interrupt

class Thing:
    pass

def removed(reference):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass

raise_keyboard_interrupt()
try:
    thing = Thing()
    reference = weakref.ref(thing, removed)
    del thing
    time.sleep(50)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize(
    "wait",
    [
        "everywhere(work, ['n1'])",
        "examine()",
        "build(Path('site'))",
        "ask()",
        "tell()",
        "follow()",
    ],
)
def test_a_signal_that_a_worker_gets_ends_the_wait_for_it(tmp_path: Path, wait: str) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", WORKING, wait],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (completed.stdout, completed.stderr) == ("stopped\n", "")


def test_a_signal_that_another_thread_gets_ends_the_wait_of_the_main_one() -> None:
    command = [sys.executable, "-c", SIGNALLED]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (completed.stdout, completed.stderr) == ("stop\n", "")


def test_a_signal_that_comes_where_python_ignores_what_is_raised_ends_us_all_the_same() -> None:
    command = [sys.executable, "-c", IGNORED]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=45)
    assert (completed.stdout, completed.stderr) == ("stopped\n", "")
