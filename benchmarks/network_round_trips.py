"""Other people's tools as contenders of the network benchmark: round trips of a small message.

Means of whole round trips, with TCP_NODELAY (without it nothing would change here, as each message
waits for the one before): the tools have no other figure in common.
"""

from __future__ import annotations

from typing import Literal

from benchmarks.network_engines import Poll, values
from benchmarks.network_job import CONGESTION, HOST, SMALL, Contender, Job, Reading, Setting
from benchmarks.network_process import Ended
from benchmarks.network_tools import (
    NETPIPE_TRIALS,
    netperf_job,
    netpipe_job,
    netpipe_result,
    parse_number,
    qperf_job,
)

Protocol = Literal["tcp", "udp"]


def sockperf(protocol: Protocol, poll: Poll) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        # All it did, the 0.4 s of warm-up included, for its CPU seconds are of all too.
        trips = parse_number(r"\[Total Run\].*ReceivedMessages=(\d+)", client.output)
        # Half of it without --full-rtt.
        return Reading(parse_number(r"Round trip is ([\d.]+) usec", client.output) * 1e-6, trips)

    def job(setting: Setting, ports: list[int]) -> Job:
        common = ["-i", HOST, "-p", str(ports[0]), *(["--tcp"] if protocol == "tcp" else [])]
        common += ["--nonblocked"] if poll == "busy" else []
        client = ["sockperf", "ping-pong", *common, "-m", str(SMALL), "--full-rtt"]
        client += ["-t", str(setting.whole_seconds)]
        return Job(["sockperf", "server", *common], client, (protocol, ports[0]), read)

    return Contender("sockperf", "tool", job, ("sockperf",))


def qperf(protocol: Protocol) -> Contender:
    def job(setting: Setting, ports: list[int]) -> Job:
        def read(client: Ended, _: Ended) -> Reading:
            # Its latency is half a round trip.
            round_trip = 2 * parse_number(r"latency += +([\d.]+) ns", client.output) * 1e-9
            return Reading(round_trip, setting.whole_seconds / round_trip)

        return qperf_job(setting, ports, ["-m", str(SMALL)], f"{protocol}_lat", read)

    return Contender("qperf", "tool", job, ("qperf",))


def netpipe() -> Contender:
    """The best of its three trials, where the others give the mean of all they did."""

    def read(client: Ended, _: Ended) -> Reading:
        times, one_way = netpipe_result(client)
        return Reading(2 * one_way, times * NETPIPE_TRIALS)

    def job(setting: Setting, ports: list[int]) -> Job:
        # It is told a number, no time: about the asked seconds at 50 us.
        times = max(100, int(setting.seconds / 50e-6 / NETPIPE_TRIALS))
        return netpipe_job(ports, SMALL, ["-n", str(times)], read)

    return Contender("NPtcp", "tool", job, ("NPtcp",), trials=NETPIPE_TRIALS)


def netperf(protocol: Protocol) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        fields = values(client.output)
        trips = fields["TRANSACTION_RATE"] * fields["ELAPSED_TIME"]
        return Reading(fields["RT_LATENCY"] * 1e-6, trips)

    def job(setting: Setting, ports: list[int]) -> Job:
        options = ["-r", f"{SMALL},{SMALL}"]
        options += ["-D", "-K", CONGESTION] if protocol == "tcp" else []
        selectors = "RT_LATENCY,TRANSACTION_RATE,ELAPSED_TIME"
        return netperf_job(setting, ports, f"{protocol.upper()}_RR", options, selectors, read)

    return Contender("netperf", "tool", job, ("netperf", "netserver"))
