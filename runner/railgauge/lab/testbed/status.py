"""What a testbed is and does, for lists and programs."""

from __future__ import annotations

from typing import Any

from railgauge.lab.testbed.relay import counts
from railgauge.lab.testbed.state import State


def as_dict(state: State) -> dict[str, Any]:
    """Return a testbed's description, with what its relays counted so far."""
    answer: dict[str, Any] = {
        "name": state.name,
        "state": "unfinished",
        "folder": str(state.folder),
    }
    if state.record is None:
        return answer
    layout = state.record.layout
    counted = counts(state)
    return {
        **answer,
        "state": "up" if state.record.ready else "unfinished",
        "source": state.record.source,
        "network": layout.network,
        "holder": state.record.holder,
        "hosts_file": str(state.hosts_file),
        "hosts": [
            {"name": name, "address": layout.addresses[name], "netns": namespace}
            for name, namespace in layout.namespaces.items()
        ],
        "cables": [
            {
                "name": cable.name,
                "ends": [f"{end.namespace}/{end.interface}" for end in cable.ends],
                "rate": cable.rate,
                "delay": cable.delay,
                "mtu": cable.mtu,
                "by": cable.by,
                **({"relay": counted[index]} if index in counted else {}),
            }
            for index, cable in enumerate(layout.cables)
        ],
    }
