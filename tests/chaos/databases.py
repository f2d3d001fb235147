"""Databases that are full, locked, damaged, or whose server goes away."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring, Outcome, finish, nothing_left
from tests.support.postgres_lab import (
    kill_backends,
    make_database,
    postgres_folder,
    postgres_server,
)

PAGE = 4096
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("show", "1"),
    ("compare", "1", "2"),
    ("diff", "1", "2"),
    ("history", "--all"),
    ("export", "csv", "--out", "out"),
    ("export", "json", "--out", "out"),
    ("db", "check"),
)


def fill_disk(place: Place) -> list[Finding]:
    """Measure onto a disk that is full after any number of bytes, then make room and resume."""
    findings: list[Finding] = []
    size = place.chance.randrange(64 << 10, 1536 << 10)
    disk = place.folder / "disk"
    disk.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size}", "none", str(disk))
    try:
        measuring = Measuring(place.folder, database="disk/railgauge.db")
        with nothing_left(findings):
            ended = measuring.call("run", "plan.yaml")
            before = measuring.stored()
            if ended.code not in (0, 3):
                sentence = f"exit code {ended.code} on a full disk: {ended.output[-200:]}"
                findings.append(Finding("wrong result", sentence))
            _mount("-o", "remount,size=64m", str(disk))
            findings += measuring.complete(ended)
            findings += measuring.compare(before)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)
    return findings


def _mount(*options: str) -> None:
    subprocess.run(["mount", *options], check=True)


def _root() -> str:
    return "" if os.geteuid() == 0 else "root, to mount a small disk"


def lock(place: Place) -> list[Finding]:
    """Measure while another program locks the database again and again, shorter than a minute."""
    findings: list[Finding] = []
    measuring = Measuring(place.folder)
    path = place.folder / measuring.database
    with nothing_left(findings):
        controller = measuring.start("run", "plan.yaml")
        ended = threading.Event()

        def locking() -> None:
            while not ended.wait(place.chance.uniform(0, 0.3)):
                if path.exists():
                    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as other:
                        other.execute("BEGIN IMMEDIATE")
                        ended.wait(place.chance.uniform(0, 2))
                        other.execute("ROLLBACK")

        locks = threading.Thread(target=locking)
        locks.start()
        before = measuring.await_stored(place.chance.randrange(measuring.planned), controller)
        outcome = finish(controller)
        ended.set()
        locks.join()
        findings += _unbroken(outcome, "locks of at most 2 s")
        findings += measuring.complete(outcome)
        findings += measuring.compare(before)
    return findings


def _unbroken(outcome: Outcome, disaster: str) -> Iterator[Finding]:
    if outcome.code:
        yield Finding("refused", f"{disaster} ended the run: {outcome.output[-200:]}")


def kill_server(place: Place) -> list[Finding]:
    """Measure into PostgreSQL while the server's processes for the database are killed."""
    findings: list[Finding] = []
    folder = place.lab("postgres", _postgres)
    name = place.folder.name.replace("-", "_")
    measuring = Measuring(place.folder, database=make_database(folder, name))
    with nothing_left(findings):
        controller = measuring.start("run", "plan.yaml")
        before = measuring.await_stored(place.chance.randrange(measuring.planned), controller)
        time.sleep(place.chance.uniform(0, 0.2))
        kill_backends(folder, name)
        outcome = finish(controller)
        findings += _unbroken(outcome, "a killed backend")
        findings += measuring.complete(outcome)
        findings += measuring.compare(before)
    return findings


def _postgres(closing: ExitStack) -> Path:
    binaries = postgres_folder()
    assert binaries is not None
    return closing.enter_context(postgres_server(binaries))


def _no_postgres() -> str:
    return "" if postgres_folder() else "PostgreSQL"


def flip(place: Place) -> list[Finding]:
    """Read copies of a database in each of which something was changed: the numbers, or an error.

    A bit anywhere, a bit in a page's header, or a page of noise.
    """
    whole = place.lab("two runs", lambda closing: _two_runs(place.folder.parent))
    expected = place.lab("wanted", lambda _: {c: _read(place, whole, c) for c in COMMANDS})
    findings: list[Finding] = []
    for number, command in enumerate(COMMANDS):
        changed = bytearray(whole)
        page = place.chance.randrange(len(whole) // PAGE) * PAGE
        if number % 3 == 2:
            changed[page : page + PAGE] = place.chance.randbytes(PAGE)
        else:
            byte = page + place.chance.randrange((PAGE, 40)[number % 3])
            changed[byte] ^= 1 << place.chance.randrange(8)
        outcome, numbers = _read(place, bytes(changed), command)
        findings += outcome.findings(" ".join(command))
        if outcome.code == 0 and numbers != expected[command][1]:
            path = place.folder / f"damaged-{number}.db"
            path.write_bytes(changed)
            findings.append(Finding("wrong result", f"{' '.join(command)} of {path.name}"))
    return findings


def _read(place: Place, content: bytes, command: Sequence[str]) -> tuple[Outcome, list[str]]:
    """Return how the command ended, and the measured numbers in what it gave."""
    measuring = Measuring(place.folder, database="damaged.db")
    for file in place.folder.glob("damaged.db*"):
        file.unlink()
    (place.folder / "damaged.db").write_bytes(content)
    (place.folder / "out").unlink(missing_ok=True)
    outcome = measuring.call(*command)
    written = place.folder / "out"
    text = outcome.output + (written.read_text() if written.exists() else "")
    return outcome, re.findall(r"\b[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?\b", text)


def _two_runs(folder: Path) -> bytes:
    place = folder / "two-runs"
    place.mkdir()
    measuring = Measuring(place)
    for _ in range(2):
        ended = measuring.call("run", "plan.yaml")
        assert ended.code == 0, ended.output
    path = place / measuring.database
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
    return path.read_bytes()


DISASTERS = (
    Disaster("fill-disk", "the disk is full after any number of bytes", fill_disk, 100, 3, _root),
    Disaster("lock", "another program locks the database", lock, 20, 1),
    Disaster("kill-server", "kill -9 of PostgreSQL's backends", kill_server, 50, 2, _no_postgres),
    Disaster("flip", "bytes of the database's file change", flip, 60, 3),
)
