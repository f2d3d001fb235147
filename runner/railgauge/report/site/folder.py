"""The folder that a site stands in: which files are its own, how they come and go."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from railgauge.base.atomicfile import PART, write_atomic
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.report.site.mark import FileMark, marked, read_mark

INDEX = "index.html"
RUNS, CASES, LOGS, DATA = "runs", "cases", "logs", "data"
_LOCK = ".railgauge-site.lock"
# Between two looks whether another build has ended, in seconds.
_PAUSE = 0.2
# The names of the site's files: never a text out of the database.
_OWN = re.compile(
    # Sites had a page of changes.
    rf"(?:index|compare|changes)\.html|{RUNS}/[0-9]+\.html|{CASES}/[0-9a-f]+\.html"
    rf"|{DATA}/(?:[0-9]+(?:-[0-9]+)?|nights)\.js"
    rf"|{LOGS}/run[0-9]+-[0-9a-f]+-[0-9a-f]+\.(?:html|plot|dat)"
)


def _try_lock(lock: IO[str]) -> bool:
    """Lock the file for this process; return whether that succeeded."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Folder:
    """A site's folder, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Make the folder and lock it for this process while inside.

        `waiting` is called when another build has it, before this one waits for its end, however
        that comes. EnvironmentFailedError when the folder can't be written to.
        """
        with self._os_errors_reported():
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / _LOCK).open("a", encoding="utf-8")
        with lock:
            if not _try_lock(lock):
                waiting()
                while not _try_lock(lock):
                    # A signal that comes just before a wait without end would end no wait.
                    time.sleep(_PAUSE)
            yield

    def marks(self) -> dict[str, FileMark]:
        """Return the marks of all files here that are a site's."""
        with self._os_errors_reported():
            names = (name for name in self._files() if _OWN.fullmatch(name))
            marks = {name: read_mark(self.path / name) for name in names}
        return {name: mark for name, mark in marks.items() if mark is not None}

    def refuse_foreign(self, names: Iterable[str], own: Collection[str]) -> None:
        """InputError where one of the files to be written is there and isn't the site's `own`."""
        for name in names:
            path = self.path / name
            if name not in own and os.path.lexists(path):
                raise InputError(
                    f"{path} is there and is none of this site's pages: choose another folder with"
                    " --out, or move it away"
                )

    def read(self, name: str) -> str:
        """Return the text of one of the site's files. EnvironmentFailedError."""
        with self._os_errors_reported():
            return (self.path / name).read_text(encoding="utf-8")

    def write(self, files: Mapping[str, str], mark: FileMark) -> None:
        """Write the files, each whole or not at all, the last one last."""
        # What isn't found again here is refused as somebody else's by the next build.
        assert all(map(_OWN.fullmatch, files)), files.keys()
        with self._os_errors_reported():
            for name, text in files.items():
                path = self.path / name
                path.parent.mkdir(exist_ok=True)
                write_atomic(path, marked(name, text, mark).encode())

    def sweep(self, keep: Collection[str], own: Collection[str]) -> int:
        """Remove those of the site's `own` files that are none of `keep`; return how many.

        And what a build that was killed had begun to write. The folder has to be `locked`.
        """
        obsolete = [name for name in own if name not in keep]
        with self._os_errors_reported():
            for name in [*obsolete, *self._parts()]:
                (self.path / name).unlink(missing_ok=True)
        return len(obsolete)

    def _files(self) -> Iterator[str]:
        """Yield the names, below this folder, of what is in it and its folders."""
        for part in ("", RUNS, CASES, LOGS, DATA):
            folder = self.path / part
            if folder.is_dir():
                prefix = f"{part}/" if part else ""
                yield from (
                    f"{prefix}{name}" for name in sorted(file.name for file in folder.iterdir())
                )

    def _parts(self) -> Iterator[str]:
        for name in self._files():
            folder, slash, file = name.rpartition("/")
            part = PART.fullmatch(file)
            if part and _OWN.fullmatch(f"{folder}{slash}{part[1]}"):
                yield name

    @contextmanager
    def _os_errors_reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EnvironmentFailedError(
                f"the site can't be kept in {self.path}: {error.strerror or error}:"
                " make room, mend the permissions, or choose another folder with --out"
            ) from error
