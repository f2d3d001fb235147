"""What a calibration gives: each quantity's value, its truth, and how well the two are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Conclusion = Literal["certified", "wrong", "not certifiable here", "left out"]
# The reason of a check that a calibration did not make.
LEFT_OUT = "only some of the checks were asked for"
# What is checked of railgauge's own code, under the names of engines: another railgauge ends it.
OF_OWN_CODE = frozenset({"report", "compare", "gate"})


@dataclass(frozen=True, slots=True)
class CertificateCheck:
    """One quantity of an engine compared with its truth.

    `value` and `truth` are in `unit`; `error`, `uncertainty` and `limit` are shares of the truth,
    or in `unit` if `relative` is False. `reason` says what disturbed the measurement or, where all
    but the limit are None, why there is none.
    """

    name: str
    engine: str
    unit: str
    limit: float
    relative: bool
    value: float | None = None
    truth: float | None = None
    error: float | None = None
    uncertainty: float | None = None
    reason: str = ""

    @property
    def conclusion(self) -> Conclusion:
        """Certified only if the error is within its uncertainty and that within the limit.

        Wrong only where nothing disturbed the measurement, or nothing could disturb it, as counts
        are exact whatever the machine does.
        """
        if self.error is None or self.uncertainty is None:
            return "left out" if self.reason == LEFT_OUT else "not certifiable here"
        exact = self.uncertainty == 0.0
        if abs(self.error) > max(self.uncertainty, self.limit) and (exact or not self.reason):
            return "wrong"
        if abs(self.error) <= self.uncertainty <= self.limit:
            return "certified"
        return "not certifiable here"

    @property
    def explanation(self) -> str:
        """Why it isn't certified; empty if it is."""
        match self.conclusion:
            case "certified":
                return ""
            case "wrong":
                return "the value differs from the truth by more than the limit"
            case _ if self.error is None or self.uncertainty is None:
                return self.reason
            case _ if self.uncertainty > self.limit:
                text = "what is uncertain of the truth is more than the limit"
            case _:
                text = "value and truth differ by more than is uncertain of them"
        return f"{text}: {self.reason}" if self.reason else text


@dataclass(frozen=True, slots=True)
class Certificate:
    """The checks of one calibration, and all that it holds for: when one changes, it ends.

    It has all checks of each engine of which it has any; a short one has left some of them out.
    `uid` distinguishes it from all others; `made_at` is UTC in ISO 8601; `load` the machine's mean
    load over the minute before. `source_hash` is railgauge's own (`source_hash()`).

    With a `peer` it is one of a pair of hosts, from `host` to `peer`, both by their names in the
    hosts file, and what is called `peer_…` is the other end's.
    """

    uid: str
    made_at: str
    version: str
    engines_hash: str
    host: str
    kernel: str
    boot_id: str
    clock_source: str
    load: float
    checks: tuple[CertificateCheck, ...]
    source_hash: str = ""
    peer: str = ""
    peer_kernel: str = ""
    peer_boot_id: str = ""
    peer_clock_source: str = ""
    peer_load: float = 0.0

    @property
    def results(self) -> tuple[CertificateCheck, ...]:
        """The checks that were not left out."""
        return tuple(check for check in self.checks if check.conclusion != "left out")

    def certified(self) -> tuple[str, ...]:
        """Return the engines of which all checks are certified, by name."""
        engines = sorted({check.engine for check in self.checks})
        return tuple(
            engine
            for engine in engines
            if all(c.conclusion == "certified" for c in self.checks if c.engine == engine)
        )
