"""A real PostgreSQL server of one's own: in a temporary folder, reached by a socket in it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from tests.support.engine_cache import alone
from tests.support.own_machine import keep_in_memory, let_go

# In the folder that PostgreSQL is told to have it in.
SOCKET = ".s.PGSQL.5432"
_SECONDS = 120  # for what takes one, on a busy machine
_INITDB = ("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
# No TCP; and no syncing to the disk, as the data live as long as the tests.
_POSTGRES = ("-F", "-c", "listen_addresses=")


def postgres_folder() -> Path | None:
    """Return the folder with `initdb` and `postgres`, None if there is none."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


@contextmanager
def postgres_server(binaries: Path, shared: Path | None = None) -> Iterator[Path]:
    """Run a server and give the folder of its socket; its superuser is `railgauge`.

    Of those with the same folder `shared` the first one's empty data are copied there for all.
    """
    # Short, as a socket's path may have 107 bytes; its own, as the server isn't run by root.
    folder = Path(tempfile.mkdtemp(prefix="railgauge-pg-"))
    keep_in_memory(folder)
    identity: dict[str, int | list[int]] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    try:
        if shared is None:
            _initdb(binaries, folder, identity)
        else:
            with alone(shared.with_suffix(".lock")):
                if shared.exists():
                    _copy(shared, folder / "data")
                else:
                    _initdb(binaries, folder, identity)
                    _copy(folder / "data", shared)
        server = subprocess.Popen(
            [binaries / "postgres", "-D", folder / "data", "-k", folder, *_POSTGRES],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **identity,
        )
        try:
            _await(folder)
            yield folder
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait(_SECONDS)
    finally:
        let_go(folder)
        shutil.rmtree(folder)


def _initdb(binaries: Path, folder: Path, identity: dict[str, int | list[int]]) -> None:
    subprocess.run(
        [binaries / "initdb", "-D", folder / "data", "-U", "railgauge", *_INITDB],
        check=True,
        capture_output=True,
        cwd=folder,
        **identity,  # type: ignore[call-overload]
    )


def _copy(data: Path, to: Path) -> None:
    """Copy a folder with its owners, whole or not at all."""
    part = to.with_suffix(".part")
    subprocess.run(["cp", "-aT", data, part], check=True)
    part.rename(to)


def make_database(
    folder: Path, name: str, template: str = "template0", encoding: str = "UTF8"
) -> str:
    """Make a database, empty or as the template is, and return its URL for railgauge."""
    with psycopg.connect(host=str(folder), user="railgauge", dbname="postgres") as connection:
        connection.autocommit = True
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" ENCODING {encoding}')
    return f"postgresql+psycopg://railgauge@/{name}?host={folder}"


def kill_backends(folder: Path, database: str) -> int:
    """Kill the server's processes for the database; return how many, none while it starts."""
    try:
        with psycopg.connect(host=str(folder), user="railgauge", dbname="postgres") as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE datname = %s"
            pids = [pid for (pid,) in connection.execute(query, [database])]
    except psycopg.OperationalError:
        return 0
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


@contextmanager
def refusing_server(server: Path, code: str, times: int) -> Iterator[Path]:
    """Give the folder of a socket where so many connections are refused; then it is `server`'s.

    The refusal has the error `code` and words that nobody knows, as a server's may be in any
    language.
    """
    fields = "".join(f"{field}\0" for field in ("SFATAL", "VFATAL", f"C{code}", "MNon.", ""))
    refusal = b"E" + (4 + len(fields)).to_bytes(4, "big") + fields.encode()
    with tempfile.TemporaryDirectory(prefix="railgauge-pg-") as name:
        path = Path(name) / SOCKET
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(100)

            def refuse() -> None:
                for _ in range(times):
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    with connection:
                        connection.recv(65536)
                        connection.sendall(refusal)
                path.unlink()
                path.symlink_to(server / SOCKET)

            refusing = threading.Thread(target=refuse)
            refusing.start()
            try:
                yield path.parent
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                refusing.join()


def _await(folder: Path) -> None:
    give_up = time.monotonic() + _SECONDS
    while time.monotonic() < give_up:
        try:
            psycopg.connect(host=str(folder), user="railgauge", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError(f"PostgreSQL did not come up within {_SECONDS} s")
