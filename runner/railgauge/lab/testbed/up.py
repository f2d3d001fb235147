"""`up`: from a testbed's file to hosts that can talk, and the hosts file that knows them."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.hosts.transport.netns import exists
from railgauge.lab.testbed import construction, relay
from railgauge.lab.testbed.down import remove
from railgauge.lab.testbed.holder import hold
from railgauge.lab.testbed.layout import free_network, has_delay, lay_out
from railgauge.lab.testbed.read_testbed import read_testbed
from railgauge.lab.testbed.shaping import kernel_has_netem
from railgauge.lab.testbed.state import (
    ClusterRecord,
    State,
    begin,
    locked,
    states,
    translated,
)
from railgauge.lab.testbed.testbed_files import agent, hosts_file
from railgauge.lab.testbed.testbed_model import Testbed


def up(path: Path) -> State:
    """Build the testbed of the file at `path` and return where it is written down.

    What was made goes again when something fails. FileProblems names the file's mistakes,
    InputError that it is up already, EnvironmentFailedError what the machine refused.
    """
    testbed = read_testbed(path)
    with locked():
        state = begin(_record(testbed, str(path.absolute())))
        try:
            return _build(state)
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


def _build(state: State) -> State:
    record = state.record
    assert record is not None
    if not record.privileged:
        with translated():
            (state.folder / "run").mkdir()
        record = replace(record, holder=hold(record.token, str(state.folder / "run")))
        state = state.write(record)
    construction.build_namespaces(record)
    construction.build_pairs(record)
    relay.start(state)
    construction.connect(record)
    with translated():
        state.agent.write_text(agent(record), encoding="utf-8")
        state.agent.chmod(0o755)
        state.hosts_file.write_text(hosts_file(state), encoding="utf-8")
        return state.write(replace(record, ready=True))
