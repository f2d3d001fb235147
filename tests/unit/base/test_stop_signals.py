"""Ctrl-C while the main thread waits."""

from __future__ import annotations

import subprocess
import sys

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


def test_a_signal_that_another_thread_gets_ends_the_wait_of_the_main_one() -> None:
    command = [sys.executable, "-c", SIGNALLED]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (completed.stdout, completed.stderr) == ("stop\n", "")
