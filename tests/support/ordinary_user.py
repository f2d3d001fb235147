"""Command lines of an ordinary user, run by root: a user id of nobody's, with engines to share."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.engine_cache import deploy_here

# $1 the user, $2 an empty folder, $3 a folder that only root may enter, or none; then what the user
# shall read in it nevertheless, --, and a command line.
_AS_USER = """
user=$1 saved=$2 closed=$3
shift 3
[ -z "$closed" ] || mount --bind "$closed" "$saved"
[ -z "$closed" ] || mount -t tmpfs -o mode=755 tmpfs "$closed"
while [ "$1" != -- ]; do
    mkdir -p "$1" && mount --rbind "$saved${1#"$closed"}" "$1" || exit
    shift
done
shift
exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
"""


def allowed(user: int) -> bool:
    """Tell whether the kernel gives that user namespaces."""
    argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    tried = subprocess.run([*argv, "unshare", "-Urnm", "true"], cwd="/", capture_output=True)
    return tried.returncode == 0


@contextlib.contextmanager
def shared_cache() -> Iterator[str]:
    """Give a cache folder with the engines, which anybody may use."""
    with tempfile.TemporaryDirectory(prefix="railgauge-test-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        built = deploy_here()
        engines = Path(folder, "railgauge/engines")
        shutil.copytree(built, engines / built.name, symlinks=True)
        engines.chmod(0o777)  # for sources that somebody changes meanwhile
        yield folder


def become(user: int, saved: Path) -> tuple[str, ...]:
    """Return what stands before a command line that `user` shall run.

    Python may be installed where only root may look, as in root's home.
    """
    needed = {Path(sys.base_prefix), Path(sys.prefix), Path(__file__).resolve().parents[2]}
    folders = {folder for path in needed for folder in (path, *path.parents)}
    closed = min((folder for folder in folders if not folder.stat().st_mode & 0o001), default=None)
    inside = [str(path) for path in needed if closed and path.is_relative_to(closed)]
    words = ["unshare", "-m", "sh", "-c", _AS_USER, "sh", str(user), str(saved)]
    return (*words, str(closed or ""), *inside, "--")


def processes(user: int) -> list[int]:
    """Return the processes of a user that haven't ended."""
    pids = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            status = (path / "status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if fields["Uid"].split()[0] == str(user) and not fields["State"].startswith("Z"):
            pids.append(int(path.name))
    return pids
