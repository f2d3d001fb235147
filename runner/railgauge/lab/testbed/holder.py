"""The process that holds a testbed for a user who isn't root, in a user namespace of its own.

There it is root, but only over what it made. A tmpfs takes /run's place, for `ip netns` keeps the
namespaces' names in /run/netns; all else of /run is still to be seen at its own place.
"""

from __future__ import annotations

import os
import subprocess

from railgauge.base.errors import EnvironmentFailedError
from railgauge.lab.testbed.state import TOKEN

# $1 an empty folder of ours.
_HOLD = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/.outside" "$1/netns"
mount --rbind /run "$1/.outside"
for each in "$1"/.outside/* "$1"/.outside/.[!.]*; do
    name=${each##*/}
    [ "$name" = netns ] || [ ! -e "$each" ] || ln -s ".outside/$name" "$1/$name"
done
mount --rbind "$1" /run
echo ready
exec sleep infinity </dev/null >/dev/null 2>&1
"""


def hold(token: str, folder: str) -> int:
    """Start the process that carries `token` and return its id; `folder` is empty and ours."""
    argv = ["unshare", "-U", "-r", "-n", "-m", "sh", "-c", _HOLD, "railgauge-holder", folder]
    try:
        holder = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env={**os.environ, TOKEN: token},
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise EnvironmentFailedError(
            "there is no 'unshare', which a testbed of a user who isn't root needs: install "
            "util-linux, or run as root"
        ) from error
    assert holder.stdout is not None
    assert holder.stderr is not None
    with holder.stdout as output, holder.stderr as errors:
        if output.readline() == "ready\n":
            holder.returncode = 0  # it stays when we end, so that nobody waits for it
            return holder.pid
        reason = errors.read().strip()
    holder.wait()
    raise EnvironmentFailedError(
        f"this kernel gives you no user namespace to build in ({reason}): run as root, or have "
        "root allow them (sysctl kernel.unprivileged_userns_clone=1, "
        "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces)"
    )
