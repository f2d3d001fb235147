"""Ctrl-C and what means the same: SIGTERM (Slurm, systemd), SIGHUP (the terminal was closed).

A signal that was ignored when we were started (nohup, a shell's background job) stays ignored.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import Future

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# After which a signal is heeded, at the latest, that did not wake the main thread.
_GLANCE = 1.0
# After which KeyboardInterrupt is raised again where Python could only ignore it.
_AGAIN = 0.01

_T = TypeVar("_T")


def raise_keyboard_interrupt() -> None:
    """From now on all of them raise KeyboardInterrupt in the main thread.

    Python ignores what is raised in a callback of a weak reference, in `__del__` and the like
    (docs.python.org, sys.unraisablehook): there it is raised again a moment later.
    """
    for number in _handled_signals():
        signal.signal(number, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _raise_again


def end_by_signals() -> None:
    """From now on all of them end the process."""
    for number in _handled_signals():
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def calling_on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """While this lasts the first of them calls `stop` (which must return at once).

    More of them change nothing, since the clean-up is under way; the third raises
    KeyboardInterrupt for whoever can't wait for it.
    """
    count = 0

    def handle(number: int, frame: object) -> None:
        nonlocal count
        count += 1
        if count == 1:
            stop()
        elif count > 2:
            _interrupt(number, frame)

    previous = {number: signal.signal(number, handle) for number in _handled_signals()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def get_interruptibly(messages: queue.SimpleQueue[_T], timeout: float) -> _T:
    """Return the next message in the main thread; queue.Empty after so many seconds (or inf).

    A signal that the kernel gives to another thread, or just before the wait begins, wakes nobody:
    Python calls its handler when the main thread goes on (docs.python.org, signal).
    """
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        try:
            return messages.get(timeout=max(0.0, min(left, _GLANCE)))
        except queue.Empty:
            if left <= _GLANCE:
                raise


def result_interruptibly(future: Future[_T], meanwhile: Callable[[], None] = lambda: None) -> _T:
    """Return the future's result in the main thread, as `get_interruptibly` does a message.

    `meanwhile` is called now and then as long as there is none.
    """
    from concurrent.futures import wait

    while not wait([future], _GLANCE).done:
        meanwhile()
    return future.result()


def run_interruptibly(
    command: Sequence[str], env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a program that reads nothing, and wait in the main thread as `get_interruptibly` does.

    subprocess.TimeoutExpired after so many seconds. However this ends, the program has ended.
    """
    import subprocess

    deadline = time.monotonic() + timeout
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, errors="replace"
    ) as process:
        try:
            while True:
                left = deadline - time.monotonic()
                try:
                    output, errors = process.communicate(timeout=max(0.0, min(left, _GLANCE)))
                    return subprocess.CompletedProcess(command, process.returncode, output, errors)
                except subprocess.TimeoutExpired:
                    if left <= _GLANCE:
                        raise
        except BaseException:
            process.kill()
            raise


def _handled_signals() -> list[signal.Signals]:
    return [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    else:
        sys.__unraisablehook__(unraisable)
