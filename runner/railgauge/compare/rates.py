"""A system log's counters as rates by which two runs' logs can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from railgauge.base.systemlog import SystemLog

# CPUs' time, for each second, for each TCP segment sent, share of the time, Hz, or for each
# replication.
Unit = Literal["CPUs", "/s", "/segment", "of the time", "Hz", "/replication"]


class Rate(NamedTuple):
    """A rate's name, its unit, and whether it counts trouble: what was lost, or done twice."""

    name: str
    unit: Unit
    trouble: bool


class _Rule(NamedTuple):
    counter: re.Pattern[str]
    name: str
    unit: Unit
    trouble: bool


_SENT = ("protocol/Tcp/OutSegs", "protocol/Tcp/RetransSegs")
_TCP_AGAIN = "RetransSegs|TCPLostRetransmit|TCPTimeouts|TCPFastRetrans|TCPSlowStartRetrans"
_TCP_TROUBLE = "TCPSynRetrans|TCPRcvQDrop|TCPBacklogDrop|TCPOFODrop|ListenDrops|TCPAbortOn[A-Za-z]+"
_BAD_PACKETS = "errors|dropped|fifo|missed|over|crc|frame|carrier|collisions"
_WRITTEN: Sequence[tuple[str, str, Unit, bool]] = (
    (rf"protocol/Tcp(?:Ext)?/({_TCP_AGAIN})", "TCP retransmits ({0})", "/segment", True),
    (rf"protocol/Tcp(?:Ext)?/({_TCP_TROUBLE})", "TCP {0}", "/s", True),
    (r"protocol/((?:Udp|UdpLite)6?)/(\w*Errors)", "{0} {1}", "/s", True),
    (r"protocol/(Ip6?)/(\w*(?:Discards|Fails|Errors))", "{0} {1}", "/s", True),
    (rf"interface/(.+)/((?:rx|tx)_\w*(?:{_BAD_PACKETS})\w*)", "{1} on {0}", "/s", True),
    (r"softnet/\d+/dropped", "packets dropped by a full backlog", "/s", True),
    (r"softnet/\d+/time_squeeze", "softirqs out of budget", "/s", True),
    (
        r"fabric/(.+)/(\w*(?:err|discard|drop|retry|recovery|downed)\w*)",
        "{1} on {0}",
        "/s",
        True,
    ),
    (r"fabric/(.+)/(\w*wait\w*)", "{1} on {0}", "/s", True),
    (r"throttle/\d+/(?:core|package)_count", "throttling for heat", "/s", True),
    (r"cgroup/nr_throttled", "throttling by the control group", "/s", True),
    (r"vm/pswp(?:in|out)", "pages swapped", "/s", True),
    (r"vm/pgmajfault", "major page faults", "/s", True),
    (r"cpu/all/(steal)", "CPU time in {0}", "CPUs", True),
    (r"cpu/all/(user|nice|system|iowait|irq|softirq)", "CPU time in {0}", "CPUs", False),
    (r"pressure/(\w+)/some", "waiting for {0} (PSI)", "of the time", False),
    (r"softirq/(\w+)/\d+", "softirqs {0}", "/s", False),
    (r"stat/context_switches", "context switches", "/s", False),
    (r"stat/interrupts", "interrupts", "/s", False),
)
_RULES = tuple(
    _Rule(re.compile(pattern), name, unit, trouble) for pattern, name, unit, trouble in _WRITTEN
)
FREQUENCY = Rate("CPU frequency", "Hz", True)


def rates(log: SystemLog) -> dict[Rate, float]:
    """Return what the log's counters come to; CPUs', queues' and the like are added up."""
    counts: dict[Rate, float] = {}
    for counter, count in log.counts.items():
        for rule in _RULES:
            if match := rule.counter.fullmatch(counter):
                rate = Rate(rule.name.format(*match.groups()), rule.unit, rule.trouble)
                counts[rate] = counts.get(rate, 0.0) + count
                break
    scaled = {rate: count / per for rate, count in counts.items() if (per := _per(log, rate.unit))}
    clocks = [value for name, value in log.gauges.items() if name.startswith("frequency/")]
    return scaled | ({FREQUENCY: sum(clocks) / len(clocks)} if clocks else {})


def _per(log: SystemLog, unit: Unit) -> float:
    """Return what a count is divided by."""
    if unit == "CPUs":
        return log.elapsed * log.ticks_per_second
    if unit == "of the time":
        return log.elapsed * 1e6
    if unit == "/segment":
        return sum(log.counts.get(name, 0) for name in _SENT)
    return log.elapsed
