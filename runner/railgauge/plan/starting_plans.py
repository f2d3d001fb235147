"""The plans and hosts files that a user begins with, as texts to go on editing."""

from __future__ import annotations

import json

from railgauge.base.errors import InputError
from railgauge.base.hostlist import expand_hostlist, is_hostlist
from railgauge.base.number import plural

PLAN, HOSTS = "plan.yaml", "hosts.yaml"

_NETWORK = """\
  - name: throughput
    engine: tcp
    set: {mode: stream, duration: 2s}
    replications: 10
  - name: latency
    engine: udp
    set: {mode: latency, datagram: 64, duration: 1s}
    replications: 10
"""
_MACHINE = """\
  - name: cpu
    engine: cpu
    set: {precision: double, duration: 1s}
    grid: {threads: [1, 2]}
    replications: 10
  - name: memory
    engine: mem
    set: {mode: triad, block: 64MiB, duration: 1s}
    grid: {threads: [1, 2]}
    replications: 10
"""
_RING = """\
links:
  # From each host to the next, the last to the first: each card sends and receives once.
  ring: {ring: [all]}
"""
_ALL_PAIRS = """\
links:
  # From each host to each other one, both ways: n hosts are n × (n - 1) links.
  pairs: {all-pairs: [all]}
"""

KINDS = {
    "pairs": ("Throughput and latency from each host to the next", _NETWORK, _RING),
    "all-pairs": ("Throughput and latency between all pairs of hosts", _NETWORK, _ALL_PAIRS),
    "machine": ("How fast each host computes and reaches its memory", _MACHINE, ""),
}
"""What can be begun with: a description, the tests of a plan, the links of a hosts file."""


def starting_files(kind: str, hosts: str, addresses: str = "", ssh: str = "") -> dict[str, str]:
    """Return by name the texts of a plan of a `kind` of KINDS and of its hosts file.

    `hosts`, `addresses` and `ssh` are hostlists of one length; without addresses and destinations
    they are the hosts' names, and without hosts this machine is the host. Raises InputError where
    one is no hostlist, or too short.
    """
    description, tests, links = KINDS[kind]
    names = _expanded("--hosts", hosts)
    if links and len(names) < 2:
        raise InputError(f"{kind}: links are between two hosts: name more, as in --hosts n[1-4]")
    entries = {}
    for option, text in (("--addresses", addresses), ("--ssh", ssh)):
        if text and (count := len(_expanded(option, text))) != len(names):
            has = f"{option} has {plural(count, 'name')}"
            raise InputError(f"{has}, but --hosts {len(names)}: write as many")
    texts = hosts, addresses or hosts, ssh or hosts
    if not names:
        entries["here"] = "{address: 127.0.0.1, transport: local}"
    elif all(map(is_hostlist, texts)):
        entries[hosts] = f"{{address: {_quoted(texts[1])}, ssh: {_quoted(texts[2])}}}"
    else:
        for name, address, destination in zip(*map(expand_hostlist, texts), strict=True):
            entries[name] = f"{{address: {_quoted(address)}, ssh: {_quoted(destination)}}}"
    lines = "".join(f"  {_quoted(name)}: {entry}\n" for name, entry in entries.items())
    head = f"railgauge: 1\nname: {kind}\ndescription: {description}\nhosts_file: {HOSTS}\n"
    return {
        HOSTS: "# `address` is where test traffic goes, `ssh` how programs are started there.\n"
        f"hosts:\n{lines}{links}",
        PLAN: f"{head}tests:\n{tests}",
    }


def _expanded(option: str, text: str) -> list[str]:
    try:
        return expand_hostlist(text) if text else []
    except ValueError as error:
        raise InputError(f"{option}: {error}") from error


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
