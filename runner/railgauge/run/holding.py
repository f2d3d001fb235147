"""Locks each machine for the whole run: two runs at once on one machine would measure each other.

On each machine a rail-hold has the machine's lock as long as its standard input is open, so that a
run that dies, however it dies, holds nothing.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import random
import secrets
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from railgauge.base.errors import (
    EngineError,
    EnvironmentFailedError,
    HostBusyError,
    HostUnreachableError,
    RailgaugeError,
)
from railgauge.base.side_by_side import everywhere
from railgauge.engine.follow import naming_lost_host
from railgauge.engine.measure import EquippedHost
from railgauge.hosts.transport.interface import Process, end
from railgauge.run.job import EquippedRun, HeldRun, ReadRun, RecordedRun, extended

# Runs that say the same name here exclude each other.
_LOCK = "RAILGAUGE_LOCK"
_FIRST_WORD = 30.0
# A controller that lost its power closes nothing; rail-hold hears nothing of it any more, then.
_BEAT = 30.0
_SILENCE = 150.0
# One who has had a machine for less than this may not get all its others, and let go.
_TAKING = 5.0
_LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a machine: as the kernel there knows it, for how many seconds, and what it says."""

    user: str
    process: int | None
    seconds: float | None
    text: str

    def __str__(self) -> str:
        """Return what comes after `n1 is held`."""
        words = ["by a process that doesn't answer"]
        if self.process is not None or self.seconds is not None:
            process = "a process" if self.process is None else f"process {self.process}"
            words = [f"by {process} of user {self.user} there"]
        if self.seconds is not None:
            since = datetime.now(UTC) - timedelta(seconds=self.seconds)
            words.insert(0, f"since {since:%Y-%m-%d %H:%M:%S} UTC")
        return " ".join(words) + (f": {self.text}" if self.text else "")


class Claim:
    """A rail-hold on one machine; `busy` says who has the machine as long as another has it."""

    def __init__(self, site: EquippedHost, token: str, text: str) -> None:
        """Start it and hear what it says first; EnvironmentFailedError when that fails."""
        self.host = site.transport.host
        self.busy: Holder | None = None
        self._again = partial(Claim, site, token)
        self._text = text
        self._loss = ""
        self._beaten_at = _now()
        with naming_lost_host(self.host):
            self.process: Process = site.transport.start(
                [
                    f"{site.engines}/rail-hold",
                    "--json",
                    "--wait",
                    *([f"--lock={name}"] if (name := os.environ.get(_LOCK)) else []),
                    "--token-stdin",
                    f"--text={text}",
                    f"--silence={_SILENCE:g}s",
                ]
            )
            self.process.send_line(token)
        try:
            self._read_event(_FIRST_WORD)
        except TimeoutError:
            _release((self,))
            raise EngineError(
                "no-answer", f"rail-hold on {self.host} said nothing for {_FIRST_WORD:.0f} s"
            ) from None
        except EngineError:
            _release((self,))
            raise

    def wait(self, limit: float) -> None:
        """Return when the machine is ours, or at `limit`, a moment of time.monotonic()."""
        while self.busy and (left := limit - time.monotonic()) > 0:
            try:
                self._read_event(min(left, _BEAT))
            except TimeoutError:
                self.beat()

    def beat(self) -> None:
        """Give a sign of life."""
        now = _now()
        self._check_silence(now)
        with contextlib.suppress(RailgaugeError):
            self.process.send_line("")
            self._beaten_at = now

    def say(self, text: str) -> None:
        """Set the text that says who has the machine from now on."""
        self._text = text
        with contextlib.suppress(RailgaugeError):
            self.process.send_line(text)

    def failure(self) -> str:
        """Return why the machine isn't ours, "" as long as nothing says so."""
        self._check_silence(_now())
        try:
            if not self._loss:
                self._read_event(0)
        except TimeoutError:
            pass
        except RailgaugeError as error:
            self._loss = str(error)
        return self._loss or (f"{self.host} is held {self.busy}" if self.busy else "")

    def _check_silence(self, now: float) -> None:
        """Count it as lost after a silence for which rail-hold lets go.

        What was measured after that may come before the word of it does, of another host.
        """
        if not self._loss and now - self._beaten_at >= _SILENCE:
            self._loss = (
                f"{self.host}: rail-hold got no sign of life for {_SILENCE:g} s: railgauge was "
                "stopped or suspended, or could send none"
            )

    def renewed(self) -> Claim:
        """Return another in place of one that is lost; itself where that can't be started."""
        self.failure()
        if self._loss:
            _release((self,))
            with contextlib.suppress(EnvironmentFailedError):
                return self._again(self._text)
        return self

    def _read_event(self, seconds: float) -> None:
        with naming_lost_host(self.host):
            line = self.process.read_line(seconds)
        if line is None:
            words = ""
            with contextlib.suppress(TimeoutError, RailgaugeError):
                words = self.process.wait(1.0).stderr.strip()[-300:]
            raise EngineError(
                "engine-lost",
                f"{self.host}: the machine can't be held for this run: rail-hold ended "
                f"unexpectedly{': ' if words else ''}{words}",
            )
        try:
            self.busy = _holder(json.loads(line), self.host)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise EngineError(
                "contract", f"rail-hold on {self.host} said {line[:200]!r}"
            ) from error


def _now() -> float:
    """Return a moment, in seconds, on a clock that goes on while this machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _holder(event: dict[str, object], host: str) -> Holder | None:
    """Return who has the machine, None if it is ours."""
    if event["event"] == "held":
        return None
    if event["event"] == "error":
        message = f"{host}: {str(event['message'])[:500]}"
        raise EngineError(str(event["code"])[:40], message)
    process, seconds = event["pid"], event["seconds"]
    return Holder(
        _printable(str(event["user"]) or f"number {event['uid']}"),
        process if isinstance(process, int) else None,
        float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e9 else None,
        _printable(str(event["text"])),
    )


class HeldMachines:
    """All machines of a run, until `close`. What is lost meanwhile is known as `Holds` says."""

    def __init__(self, claims: Mapping[str, Claim]) -> None:
        self._claims = dict(claims)
        self._failures: dict[str, str] = {}
        self._over = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="hold", daemon=True)
        self._beating.start()

    def say(self, text: str) -> None:
        """Set the text that says who has the machines from now on."""
        for claim in self._claims.values():
            claim.say(text)

    def renew(self, machine: str) -> None:
        """See `Holds.renew`."""
        claim = self._claims[machine] = self._claims[machine].renewed()
        self._failures[machine] = claim.failure()
        if claim.busy:
            # It would have the machine after that run, and keep others off for nothing.
            _release((claim,))
            error = HostUnreachableError(
                f"{self._failures[machine]}: this run had lost it, and leaves it to that one: when "
                "that has ended, `railgauge resume` measures what is missing"
            )
            error.host = claim.host
            raise error

    def failure(self, machine: str) -> str:
        """See `Holds.failure`."""
        if not self._failures.get(machine):
            self._failures[machine] = self._claims[machine].failure()
        return self._failures[machine]

    def close(self) -> None:
        """Let go of all; harmless when done twice."""
        self._over.set()
        self._beating.join()
        _release(self._claims.values())

    def _beat(self) -> None:
        """Give signs of life; runs in a thread of its own."""
        while not self._over.wait(_BEAT):
            for claim in self._claims.values():
                claim.beat()


def hold(job: EquippedRun) -> HeldRun:
    """Take every machine of the run, all or none; HostBusyError when another run has one."""
    sites = {job.machines[name]: site for name, site in job.sites.items()}
    text = _text(f"{_owner(job)}, which is about to begin")
    machines = HeldMachines(_claim_all(job, sites, text))
    job.cleanup.callback(machines.close)
    return extended(HeldRun, job, tell_others=machines.say, holds=machines)


def announce(job: RecordedRun) -> None:
    """Announce, to whoever asks for the machines, which run has them."""
    job.tell_others(_text(f"run {job.run}, {_owner(job)}"))


def _claim_all(
    job: EquippedRun, sites: Mapping[str, EquippedHost], text: str
) -> Mapping[str, Claim]:
    """Take all machines, or none: who waited with some in hand might wait for one who does, too."""
    token = secrets.token_hex(8)
    limit = time.monotonic() + job.request.wait
    claims: dict[str, Claim] = {}
    announced = False

    def claim(machine: str) -> None:
        claims[machine] = Claim(sites[machine], token, text)

    while True:
        try:
            everywhere(claim, [machine for machine in sites if machine not in claims])
        except HostUnreachableError:
            _release(claims.values())
            raise
        busy = {machine: claim for machine, claim in claims.items() if claim.busy}
        if not busy:
            return claims
        until = max(limit, _patience(busy))
        machine, first = next(iter(busy.items()))
        _release(claim for claim in claims.values() if claim is not first)
        if time.monotonic() < until:
            if job.request.wait and not announced:
                job.observer.say(f"waiting for {first.host}: it is held {first.busy}")
                announced = True
            _await(first, machine, until)
        if first.busy:
            _release((first,))
            raise HostBusyError(_refusal(busy))
        claims = {machine: first}
        # Two who let go for each other, and have what the other wants now, would do so again.
        time.sleep(random.uniform(0.0, 1.0))  # noqa: S311 - nothing to guess


def _await(claim: Claim, machine: str, until: float) -> None:
    """Wait for it in another thread: a transport may not notice a signal that came before."""
    everywhere(lambda _: claim.wait(until), [machine])


def _patience(busy: Mapping[str, Claim]) -> float:
    """Return until when those who are still taking their machines may let go of them."""
    holders = [claim.busy for claim in busy.values() if claim.busy is not None]
    ages = [_TAKING if holder.seconds is None else holder.seconds for holder in holders]
    return time.monotonic() + _TAKING - max(ages)


def _refusal(busy: Mapping[str, Claim]) -> str:
    lines = [f"{claim.host} is held {claim.busy}" for claim in busy.values() if claim.busy]
    return "\n".join(
        [*lines, "two runs at once would measure each other: wait for its end with --wait 30min"]
    )


def _release(claims: Iterable[Claim]) -> None:
    with contextlib.suppress(EnvironmentFailedError):
        end(claim.process for claim in claims)


def _owner(job: ReadRun) -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        user = f"user {os.getuid()}"
    return f"plan {job.loaded.plan.name}, by {user} on {socket.gethostname()}"


def _text(words: str) -> str:
    """Return what rail-hold takes for a text: one line, not too long."""
    return _printable(words).encode()[:_LONGEST_TEXT].decode(errors="ignore").strip()


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text).strip()
