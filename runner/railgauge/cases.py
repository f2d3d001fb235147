"""Cases: what a plan's tests expand to, and the key that finds the same case again in every run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from railgauge.catalogue import Value

__all__ = ["Case", "Value", "case_key"]


@dataclass(frozen=True, slots=True)
class Case:
    """One engine, one link (or host) and one full set of parameters, in base units."""

    key: str
    engine: str
    link: str
    client: str
    server: str | None
    parameters: Mapping[str, Value]


def case_key(
    engine: str, link: str, client: str, server: str | None, parameters: Mapping[str, Value]
) -> str:
    """Return 16 hexadecimal digits that stand for exactly these, in whatever order they came."""
    identity = [engine, link, client, server, sorted(parameters.items())]
    text = json.dumps(identity, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
