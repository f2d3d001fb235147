"""What is written down about each testbed, before anything of it is made.

A folder a testbed: `testbed.json`, and what belongs to it (the hosts file, the MPI agent, what
the relays say). Everything has a name that is known beforehand; processes carry the testbed's
token in their environment. So what `up` was about when it died can always be found.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.suggestion import suggest
from railgauge.lab.testbed.layout import ClusterLayout

TOKEN = "RAILGAUGE_TESTBED"  # noqa: S105 - a variable's name
_PATIENCE = 120.0  # seconds to wait for another `up` or `down`
_RECORD = "testbed.json"


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """A testbed as written down; `ready` once all of it was made."""

    token: str
    layout: ClusterLayout
    source: str
    privileged: bool
    holder: int | None = None
    ready: bool = False


_RECORDS = TypeAdapter(ClusterRecord)


@dataclass(frozen=True, slots=True)
class State:
    """A testbed's folder; `record` is None where `up` died before it was written."""

    folder: Path
    record: ClusterRecord | None

    @property
    def name(self) -> str:
        """The testbed's name."""
        return self.folder.name

    @property
    def hosts_file(self) -> Path:
        """The hosts file for plans."""
        return self.folder / "hosts.yaml"

    @property
    def agent(self) -> Path:
        """What mpirun starts its daemons with."""
        return self.folder / "agent"

    def relay_file(self, index: int, kind: str) -> Path:
        """Return where the relay of cable `index` writes its `out` or `err`."""
        return self.folder / f"relay{index}.{kind}"

    def write(self, record: ClusterRecord) -> State:
        """Write `record` down, whole or not at all."""
        fresh = self.folder / f"{_RECORD}.new"
        fresh.write_bytes(_RECORDS.dump_json(record, by_alias=True, exclude_defaults=True))
        fresh.replace(self.folder / _RECORD)
        return replace(self, record=record)

    def forget(self) -> None:
        """Remove the folder, the record last."""
        for path in self.folder.iterdir():
            if path.name == _RECORD:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        (self.folder / _RECORD).unlink(missing_ok=True)
        self.folder.rmdir()


def root() -> Path:
    """Return the folder of all testbeds of this user."""
    if os.geteuid() == 0:
        return Path("/run/railgauge")
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "railgauge"
    state = os.environ.get("XDG_STATE_HOME")
    return Path(state or Path.home() / ".local" / "state") / "railgauge"


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Be the only one that builds or removes testbeds; EnvironmentFailedError after two minutes."""
    with translated():
        root().mkdir(parents=True, exist_ok=True)
        lock = (root() / ".lock").open("w")
    deadline = time.monotonic() + _PATIENCE
    with lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise EnvironmentFailedError(
                        "another railgauge has been building or removing a testbed for "
                        f"{_PATIENCE:.0f} s: see what it does (ps), end it and try again"
                    ) from None
                time.sleep(0.1)
        yield


def begin(record: ClusterRecord) -> State:
    """Make the folder of a new testbed and write its record."""
    with translated():
        folder = root() / record.layout.name
        folder.mkdir()
        return State(folder, None).write(record)


def states() -> list[State]:
    """Return the testbeds that are written down, by name."""
    with translated():
        if not root().is_dir():
            return []
        folders = sorted(path for path in root().iterdir() if path.is_dir())
        return [State(folder, _record(folder)) for folder in folders]


def find(name: str) -> State:
    """Return the testbed `name`; InputError if there is none."""
    by_name = {state.name: state for state in states()}
    if name not in by_name:
        available = f"there are {', '.join(by_name)}" if by_name else "there is none"
        raise InputError(f"no testbed {name!r} is up{suggest(name, by_name)} ({available})")
    return by_name[name]


def _record(folder: Path) -> ClusterRecord | None:
    path = folder / _RECORD
    try:
        return _RECORDS.validate_json(path.read_bytes())
    except FileNotFoundError:  # Not yet written, or removed just now.
        return None
    except ValidationError:
        raise EnvironmentFailedError(
            f"{path} is damaged or of another version of railgauge: remove the namespaces named "
            f"rg-{folder.name}-… (ip netns list) and {folder}"
        ) from None


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn a file's trouble into ours."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFailedError(
            f"can't keep track of testbeds: {error}; make room there or mend its permissions"
        ) from error
