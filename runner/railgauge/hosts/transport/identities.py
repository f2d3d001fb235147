"""The keys we may show a host: what ssh would use without asking for a passphrase."""

from __future__ import annotations

import base64
import binascii
import contextlib
from pathlib import Path
from typing import Any

import paramiko

from railgauge.hosts.transport.sshconfig import SshOptions


def identities(options: SshOptions, hops: contextlib.ExitStack) -> dict[str, Any]:
    """Return what Fabric's connect_kwargs say about keys; `hops` lets go of the agent.

    With IdentitiesOnly the agent's keys that aren't named stay out, but a named one may well be
    in the agent alone: its file has a passphrase then, or only the public half is there.
    """
    files = [path for path in options.identity_files if Path(path).is_file()]
    chosen: dict[str, Any] = {
        "key_filename": files,
        "allow_agent": options.agent and options.other_identities,
        "look_for_keys": options.other_identities,
    }
    if options.agent and not options.other_identities:
        agent = paramiko.Agent()
        hops.callback(agent.close)
        agent_keys = {key.asbytes(): key for key in agent.get_keys()}
        for path in options.identity_files:
            if (key := agent_keys.get(_public_half(path))) is not None:
                chosen["pkey"] = key
                break
    return chosen


def _public_half(path: str) -> bytes:
    """Return the public key that belongs to an identity file, b"" if there is none."""
    public = Path(path if path.endswith(".pub") else f"{path}.pub")
    try:
        return base64.b64decode(public.read_text().split()[1])
    except (OSError, UnicodeDecodeError, IndexError, binascii.Error):
        return b""
