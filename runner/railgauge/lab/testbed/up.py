"""`up`: from a testbed's file to hosts that can talk, and the hosts file that knows them."""

from __future__ import annotations

import os
import subprocess
import uuid
from dataclasses import replace
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.engine.build_all import BuildObserver
from railgauge.hosts.transport.netns import exists
from railgauge.lab.testbed import construction, relay
from railgauge.lab.testbed.down import remove
from railgauge.lab.testbed.layout import free_network, has_delay, lay_out
from railgauge.lab.testbed.read_testbed import read_testbed
from railgauge.lab.testbed.shaping import kernel_has_netem
from railgauge.lab.testbed.state import (
    TOKEN,
    ClusterRecord,
    State,
    begin,
    locked,
    states,
    translated,
)
from railgauge.lab.testbed.testbed_files import agent, hosts_file
from railgauge.lab.testbed.testbed_model import Testbed

# Root in a user namespace of its own, but only over what it made. A tmpfs takes /run's place, for
# `ip netns` keeps the namespaces' names in /run/netns; all else of /run is still to be seen at its
# own place. $1 is an empty folder of ours.
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


def up(path: Path, observer: BuildObserver) -> State:
    """Build the testbed of the file at `path` and return where it is written down.

    The `observer` follows where the engines are built that its links take.

    What was made goes again when something fails. FileProblems names the file's mistakes,
    InputError that it is up already, EnvironmentFailedError what the machine refused.
    """
    testbed = read_testbed(path)
    with locked():
        state = begin(_record(testbed, str(path.absolute())))
        try:
            return _build(state, observer)
        except BaseException:
            remove(state)
            raise


def _record(testbed: Testbed, source: str) -> ClusterRecord:
    existing = states()
    if testbed.name in {state.name for state in existing}:
        raise InputError(
            f"testbed {testbed.name!r} is up already, or an attempt at it was cut short: "
            f"railgauge testbed down {testbed.name} removes it"
        )
    networks = [state.record.layout.network for state in existing if state.record]
    privileged = os.geteuid() == 0
    netem = has_delay(testbed) and kernel_has_netem(privileged=privileged)
    layout = lay_out(testbed, testbed.network or free_network(networks), netem=netem)
    if privileged:
        for namespace in layout.all_namespaces:
            if exists(namespace):
                raise EnvironmentFailedError(
                    f"the network namespace {namespace} is there already, and no testbed of ours "
                    f"knows it: remove it (ip netns del {namespace}) or rename the testbed"
                )
    # It marks the testbed's processes, the name first for whoever looks.
    token = f"rg-{testbed.name}-{uuid.uuid4().hex}"
    return ClusterRecord(token, layout, source, privileged)


def _build(state: State, observer: BuildObserver) -> State:
    record = state.record
    assert record is not None
    if not record.privileged:
        with translated():
            (state.folder / "run").mkdir()
        record = replace(record, holder=hold(record.token, str(state.folder / "run")))
        state = state.write(record)
    construction.build_namespaces(record)
    construction.build_pairs(record)
    relay.start(state, observer)
    construction.connect(record)
    with translated():
        state.agent.write_text(agent(record), encoding="utf-8")
        state.agent.chmod(0o755)
        state.hosts_file.write_text(hosts_file(state), encoding="utf-8")
        return state.write(replace(record, ready=True))


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
