"""An ssh connection that can't be made for want of what this machine has to give."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.few_descriptors import few_descriptors, open_descriptors

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport.sshconfig import VARIABLE
from railgauge.hosts.transport.sshconnect import SshConnection

LACK = "let more files be open at a time (ulimit -n)"


def test_a_connection_that_too_few_descriptors_are_left_for_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "Host far\n User me\n ProxyCommand true\n IdentityAgent none\n IdentitiesOnly yes\n"
        f" IdentityFile {tmp_path}/none\n UserKnownHostsFile none\n GlobalKnownHostsFile none\n"
    )
    monkeypatch.setenv(VARIABLE, str(config))
    with pytest.raises(HostUnreachableError):
        SshConnection("far", "far", 60)
    before, messages = len(open_descriptors()), []
    for free in range(32):
        with few_descriptors(free), pytest.raises(HostUnreachableError) as caught:
            SshConnection("far", "far", 60)
        messages.append(str(caught.value))
        del caught
        assert len(open_descriptors()) == before
        if LACK not in messages[-1]:
            break
    # What is there is no ssh server.
    assert "Too many" not in messages.pop()
    # The configuration that can't be read, the socket pair and the program.
    assert len(messages) > 2
