"""A copy of an SQLite database as it is at one moment, also while a run writes to it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from railgauge.base.atomicfile import atomic_file
from railgauge.base.errors import InputError, StoreError
from railgauge.store.explain import explained
from railgauge.store.store import Store


def backup(where: str, target: Path) -> int:
    """Copy the database to a new file, which is whole and checked or not there; return its bytes.

    SQLite's own backup in one step, so that writers neither wait nor make it begin again.
    InputError when the file is there or the database isn't SQLite's, StoreError when the database
    is damaged or the file can't be written.
    """
    with Store.open(where, create=False) as store:
        if "://" in store.name:
            raise InputError(
                f"{store.name} is not an SQLite file: back it up by pg_dump, "
                "or into a file by `railgauge db copy`"
            )
        if target.exists() or target.is_symlink():
            raise InputError(f"{target} exists already: name another file, or remove it")
        try:
            with atomic_file(target, sync=True) as out:
                # By the file that was made, whatever its name leads to now.
                beside = str(Path(f"/proc/self/fd/{out.fileno()}").readlink())
                with (
                    store.reading() as connection,
                    explained(str(target)),
                    closing(sqlite3.connect(beside)) as copy,
                ):
                    copy.execute("PRAGMA journal_mode = OFF")
                    original = connection.connection.driver_connection
                    assert original is not None
                    original.backup(copy)
                with Store.open(beside, create=False, check=False) as copied:
                    copied.check()
                size = os.fstat(out.fileno()).st_size
        except OSError as error:
            raise StoreError(
                f"cannot write the backup {target}: {error.strerror}: check its folder, permissions"
                " and room"
            ) from error
    return size
