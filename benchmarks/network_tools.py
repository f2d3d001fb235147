"""Other people's tools as contenders of the network benchmark: streams and a held rate.

Each reader takes the receiver's figure. Loss is one less what was received over what was sent, from
the counts of either end, as several tools know of no datagram lost at the end of the stream.
"""

from __future__ import annotations

import json
import re
from typing import Any

from benchmarks.network_engines import SEGMENTS, values
from benchmarks.network_job import CONGESTION, DATAGRAM, HOST, Contender, Job, Reading, Setting
from benchmarks.network_process import Ended, RunError


def parse_number(pattern: str, text: str) -> float:
    """The number that a pattern's group finds."""
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"nothing like {pattern!r}")
    return float(match[1])


def _rate(received: float, sent: float, bits_per_second: float, *, bits: bool) -> Reading:
    """Of a stream of datagrams; all counts in bytes."""
    value = bits_per_second if bits else bits_per_second / 8 / DATAGRAM
    return Reading(value, received, 1 - received / sent)


# --- iperf3 ---------------------------------------------------------------------------------------


def _iperf3_document(ended: Ended) -> dict[str, Any]:
    # Some versions print text behind the JSON.
    begin = ended.output.index("{")
    document: dict[str, Any] = json.JSONDecoder().raw_decode(ended.output, begin)[0]
    if "error" in document:
        raise RunError(f"iperf3: {document['error']}")
    return document


def _iperf3(setting: Setting, ports: list[int], options: list[str], read: Any) -> Job:
    port = ["-p", str(ports[0])]
    server = ["iperf3", "-s", "-1", "-B", HOST, *port, "-J"]
    client = ["iperf3", "-c", HOST, *port, "-J", "-i", "0", "-t", str(setting.whole_seconds)]
    return Job(server, [*client, *options], ("tcp", ports[0]), read, server_ends=True)


def iperf3_tcp(message: int) -> Contender:
    def read(client: Ended, server: Ended) -> Reading:
        end = _iperf3_document(client)["end"]
        if end["sender_tcp_congestion"] != CONGESTION:
            raise RunError(f"iperf3 ran with {end['sender_tcp_congestion']}")
        received = _iperf3_document(server)["end"]["sum_received"]
        return Reading(received["bits_per_second"], received["bytes"])

    def job(setting: Setting, ports: list[int]) -> Job:
        return _iperf3(setting, ports, ["-l", str(message), "-C", CONGESTION], read)

    return Contender("iperf3", "tool", job, ("iperf3",))


def iperf3_udp(*, rate: int = 0, gsro: bool = False) -> Contender:
    def read(client: Ended, server: Ended) -> Reading:
        # The server's own document: the client's `end.sum` has the sender's rate.
        received = _iperf3_document(server)["end"]["sum_received"]
        sent = _iperf3_document(client)["end"]["sum_sent"]["bytes"]
        speed = received["bytes"] * 8 / received["seconds"]
        # What its last call sends after the end is not in the client's sum.
        if 0 < received["bytes"] - sent <= DATAGRAM * (SEGMENTS if gsro else 1):
            sent = received["bytes"]
        return _rate(received["bytes"], sent, speed, bits=rate > 0)

    def job(setting: Setting, ports: list[int]) -> Job:
        options = ["-u", "-b", str(rate), "-l", str(DATAGRAM), "-w", str(setting.buffer)]
        return _iperf3(setting, ports, [*options, *(["--gsro"] if gsro else [])], read)

    option = "--gsro" if gsro else ""
    return Contender("iperf3 --gsro" if gsro else "iperf3", "tool", job, ("iperf3",), option)


# --- iperf 2 --------------------------------------------------------------------------------------


def _iperf(setting: Setting, ports: list[int], options: list[str], read: Any, *, udp: bool) -> Job:
    # It ends neither after -1 nor after -P 1 in time, so it is stopped.
    common = ["-p", str(ports[0]), "-y", "C", "-e", *(["-u"] if udp else [])]
    server = ["iperf", "-s", "-B", HOST, *common]
    client = ["iperf", "-c", HOST, *common, "-t", f"{setting.seconds}", *options]
    if udp:
        server += ["-l", str(DATAGRAM), "-w", str(setting.buffer)]
    return Job(server, client, ("udp" if udp else "tcp", ports[0]), read)


def _iperf_row(ended: Ended) -> list[str]:
    # time, addresses and ports (4), id, interval, bytes, bit/s; for UDP jitter, lost, total …
    return [line for line in ended.output.splitlines() if line.count(",") >= 8][-1].split(",")


def iperf_tcp(message: int) -> Contender:
    def read(_: Ended, server: Ended) -> Reading:
        row = _iperf_row(server)
        return Reading(float(row[8]), float(row[7]))

    def job(setting: Setting, ports: list[int]) -> Job:
        options = ["-l", str(message), "-Z", CONGESTION]
        return _iperf(setting, ports, options, read, udp=False)

    return Contender("iperf", "tool", job, ("iperf",))


def iperf_udp(*, rate: int = 0) -> Contender:
    def read(client: Ended, server: Ended) -> Reading:
        row = _iperf_row(server)
        # The client's first row is of what it sent; one that follows repeats the server's. It has
        # been seen to be short, by less than the server's highest number tells.
        client_bytes = float(client.output.splitlines()[0].split(",")[7])
        sent = max(client_bytes, float(row[11]) * DATAGRAM)
        return _rate(float(row[7]), sent, float(row[8]), bits=rate > 0)

    def job(setting: Setting, ports: list[int]) -> Job:
        # Its -b 0 is an endless gap between datagrams; 100 Gbit/s is "as fast as it goes".
        speed = str(rate or "100g")
        options = ["-l", str(DATAGRAM), "-w", str(setting.buffer), "-b", speed]
        return _iperf(setting, ports, options, read, udp=True)

    return Contender("iperf", "tool", job, ("iperf",))


# --- nuttcp ---------------------------------------------------------------------------------------


def _nuttcp(setting: Setting, ports: list[int], options: list[str], read: Any) -> Job:
    # No option for congestion control: it takes the route's. Without --nofork the server goes into
    # the background, and its CPU seconds with it.
    server = ["nuttcp", "-1", "--nofork", "-P", str(ports[0])]
    client = ["nuttcp", f"-P{ports[0]}", f"-p{ports[1]}", f"-T{setting.whole_seconds}", "-fparse"]
    return Job(server, [*client, *options, HOST], ("tcp", ports[0]), read, server_ends=True)


def nuttcp_tcp(message: int) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        fields = values(client.output)
        return Reading(fields["rate_Mbps"] * 1e6, fields["megabytes"] * 2**20)

    def job(setting: Setting, ports: list[int]) -> Job:
        return _nuttcp(setting, ports, [f"-l{message}"], read)

    return Contender("nuttcp", "tool", job, ("nuttcp",))


def nuttcp_udp(*, rate: int = 0) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        fields = values(client.output)
        received = fields["megabytes"] * 2**20
        sent = fields["pkt"] * DATAGRAM
        return _rate(received, max(sent, received), fields["rate_Mbps"] * 1e6, bits=rate > 0)

    def job(setting: Setting, ports: list[int]) -> Job:
        speed = f"-R{rate // 1_000_000}m" if rate else "-Ru"
        buffer = f"{setting.buffer // 1024}"  # KiB
        options = ["-u", f"-l{DATAGRAM}", speed, f"-w{buffer}", f"-ws{buffer}"]
        return _nuttcp(setting, ports, options, read)

    return Contender("nuttcp", "tool", job, ("nuttcp",))


# --- qperf ----------------------------------------------------------------------------------------


def qperf_job(setting: Setting, ports: list[int], options: list[str], test: str, read: Any) -> Job:
    # taskset, as its own -lca and -rca count CPUs from 1. Its server forks a child for each test
    # and waits for it. No option for congestion control: it takes the route's.
    listen = ["-lp", str(ports[0])]
    client = ["qperf", *listen, "-ip", str(ports[1]), "-t", str(setting.whole_seconds)]
    client += ["-e", "9", "-uu", "-ub", *options, HOST, test]
    return Job(["qperf", *listen], client, ("tcp", ports[0]), read)


def qperf_tcp(message: int) -> Contender:
    def job(setting: Setting, ports: list[int]) -> Job:
        def read(client: Ended, _: Ended) -> Reading:
            rate = parse_number(r"\bbw += +(\d+) bits/sec", client.output)
            return Reading(rate, rate / 8 * setting.whole_seconds)

        return qperf_job(setting, ports, ["-m", str(message)], "tcp_bw", read)

    return Contender("qperf", "tool", job, ("qperf",))


def qperf_udp() -> Contender:
    def job(setting: Setting, ports: list[int]) -> Job:
        def read(client: Ended, _: Ended) -> Reading:
            received = parse_number(r"recv_bw += +(\d+) bits/sec", client.output)
            sent = parse_number(r"send_bw += +(\d+) bits/sec", client.output)
            bytes_received = received / 8 * setting.whole_seconds
            # Two rates and no counts: without loss they differ by a rounding, either way.
            lost = max(0.0, 1 - received / sent)
            return Reading(received / 8 / DATAGRAM, bytes_received, lost)

        options = ["-m", str(DATAGRAM), "-sb", str(setting.buffer)]
        return qperf_job(setting, ports, options, "udp_bw", read)

    return Contender("qperf", "tool", job, ("qperf",))


# --- sockperf -------------------------------------------------------------------------------------


def sockperf_udp() -> Contender:
    """Its client knows only what it sent; the server counts what came, so that is what is taken,
    over the client's time, as the server tells none.
    """

    def read(client: Ended, server: Ended) -> Reading:
        received = parse_number(r"Total (\d+) messages received", server.output)
        sent = parse_number(r"Total of (\d+) messages sent", client.output)
        seconds = parse_number(r"messages sent in ([\d.]+) sec", client.output)
        return Reading(received / seconds, received * DATAGRAM, 1 - received / sent)

    def job(setting: Setting, ports: list[int]) -> Job:
        common = ["-i", HOST, "-p", str(ports[0]), "--buffer-size", str(setting.buffer)]
        client = ["sockperf", "throughput", *common, "-m", str(DATAGRAM)]
        client += ["-t", str(setting.whole_seconds), "--dontwarmup"]
        return Job(["sockperf", "server", *common], client, ("udp", ports[0]), read)

    return Contender("sockperf", "tool", job, ("sockperf",))


# --- NetPIPE --------------------------------------------------------------------------------------


def netpipe_job(ports: list[int], size: int, options: list[str], read: Any) -> Job:
    # No option for congestion control: it takes the route's. NODELAY is always on.
    command = ["NPtcp", "-P", str(ports[0]), "-l", str(size), "-u", str(size), "-p", "0", *options]
    command += ["-o", "/dev/null"]
    return Job(command, [*command, "-h", HOST], ("tcp", ports[0]), read, server_ends=True)


def netpipe_result(ended: Ended) -> tuple[float, float]:
    """How often a message went in one trial, and the seconds each took in the best of three."""
    times = parse_number(r"bytes +(\d+) times", ended.errors + ended.output)
    return times, parse_number(r" in +([\d.]+) usec", ended.errors + ended.output) * 1e-6


NETPIPE_TRIALS = 3


def netpipe_tcp(message: int) -> Contender:
    """The receiver's time of the best of three trials; its microseconds, as its Mbps are 2**20."""

    def read(client: Ended, _: Ended) -> Reading:
        times, seconds = netpipe_result(client)
        return Reading(message * 8 / seconds, message * times * NETPIPE_TRIALS)

    def job(setting: Setting, ports: list[int]) -> Job:
        # It is told a number, no time: about the asked seconds at 8 GB/s.
        times = max(100, int(setting.seconds * 8e9 / message / NETPIPE_TRIALS))
        return netpipe_job(ports, message, ["-s", "-n", str(times)], read)

    return Contender("NPtcp", "tool", job, ("NPtcp",), trials=NETPIPE_TRIALS)


# --- netperf --------------------------------------------------------------------------------------


def netperf_job(
    setting: Setting, ports: list[int], test: str, options: list[str], selectors: str, read: Any
) -> Job:
    # netserver undoes taskset's pinning, so -T pins both; -f: no child, whose CPU would be lost.
    server = ["netserver", "-D", "-f", "-4", "-L", HOST, "-p", str(ports[0])]
    pins = f"{setting.client_cpu},{setting.server_cpu}"
    client = ["netperf", "-4", "-H", HOST, "-p", str(ports[0]), "-T", pins, "-P", "0", "-f", "m"]
    client += ["-t", test, "-l", str(setting.whole_seconds), "--", *options, "-k", selectors]
    return Job(server, client, ("tcp", ports[0]), read)


_NEEDS = ("netperf", "netserver")


def netperf_tcp(message: int) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        fields = values(client.output)
        return Reading(fields["REMOTE_RECV_THROUGHPUT"] * 1e6, fields["REMOTE_BYTES_RECVD"])

    def job(setting: Setting, ports: list[int]) -> Job:
        options = ["-m", str(message), "-M", str(message), "-K", CONGESTION]
        selectors = "REMOTE_RECV_THROUGHPUT,REMOTE_BYTES_RECVD"
        return netperf_job(setting, ports, "TCP_STREAM", options, selectors, read)

    return Contender("netperf", "tool", job, _NEEDS)


def netperf_udp() -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        fields = values(client.output)
        received, sent = fields["REMOTE_RECV_CALLS"], fields["LOCAL_SEND_CALLS"]
        rate = fields["REMOTE_RECV_THROUGHPUT"] * 1e6 / 8 / DATAGRAM
        return Reading(rate, received * DATAGRAM, 1 - received / sent)

    def job(setting: Setting, ports: list[int]) -> Job:
        size, buffer = str(DATAGRAM), str(setting.buffer)
        # -R 1: it refuses to send UDP at full speed where routing isn't allowed by hand.
        options = ["-m", size, "-M", size, "-s", buffer, "-S", buffer, "-R", "1"]
        selectors = "REMOTE_RECV_THROUGHPUT,REMOTE_RECV_CALLS,LOCAL_SEND_CALLS"
        return netperf_job(setting, ports, "UDP_STREAM", options, selectors, read)

    return Contender("netperf", "tool", job, _NEEDS)
