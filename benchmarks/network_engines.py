"""railgauge's engines and the probe as contenders of the network benchmark."""

from __future__ import annotations

import json
from typing import Any, Literal

from benchmarks.network_job import (
    CONGESTION,
    DATAGRAM,
    HOST,
    SMALL,
    Contender,
    Job,
    Reading,
    Setting,
)
from benchmarks.network_process import Ended, RunError

# As many datagrams as one GSO super-packet may hold: 44 * 1460 = 64,240 of 65,507 bytes.
SEGMENTS = 44
BATCH = 32
Poll = Literal["block", "busy"]


def events(output: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The settings of a client and the metrics of each of its replications."""
    settings: dict[str, Any] = {}
    metrics: list[dict[str, Any]] = []
    for line in output.splitlines():
        event = json.loads(line)
        if event["event"] == "error":
            raise RunError(str(event["message"]))
        if event["event"] == "settings":
            settings = event
        if event["event"] == "replication":
            metrics.append(event["metrics"])
    return settings, metrics


def server_cpu(*replications: dict[str, Any]) -> float:
    """The CPU seconds of the server's test loop by its own account.

    Its session is a child that the kernel buries, so no wait4 ever tells of it. What is left out,
    start and end, is a few milliseconds.
    """
    return sum(float(m["server_user_time"] + m["server_system_time"]) for m in replications)


def _engine_job(
    engine: Literal["tcp", "udp"],
    setting: Setting,
    ports: list[int],
    options: list[str],
    read: Any,
    trials: int = 1,
) -> Job:
    program = str(setting.engines / f"rail-{engine}")
    limit = f"{setting.seconds + 10}s"
    server = [program, "server", "--once", "--bind", HOST, "--port", str(ports[0])]
    client = [program, "client", HOST, "--port", str(ports[0]), "--json"]
    client += ["--replications", str(trials), "--deadline", limit]
    client += ["--duration", f"{setting.seconds / trials:.3f}s"]
    client += ["--client-cpu", str(setting.client_cpu), "--server-cpu", str(setting.server_cpu)]
    return Job(
        [*server, "--deadline", limit],
        [*client, *options],
        ("tcp", ports[0]),
        read,
        server_ends=True,
        taskset=False,
    )


def rail_tcp_stream(message: int, name: str = "rail-tcp", *more: str, trials: int = 1) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        settings, replications = events(client.output)
        if settings["client"]["congestion"] != CONGESTION:
            raise RunError(f"rail-tcp ran with {settings['client']['congestion']}")
        best = max(metrics["throughput"] for metrics in replications)
        received = sum(metrics["received_bytes"] for metrics in replications)
        return Reading(best, received, server_cpu=server_cpu(*replications))

    def job(setting: Setting, ports: list[int]) -> Job:
        options = ["--message", str(message), "--read", str(message), "--congestion", CONGESTION]
        return _engine_job("tcp", setting, ports, [*options, *more], read, trials)

    return Contender(name, "ours", job, trials=trials)


def rail_udp_stream(name: str, *more: str) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        (metrics,) = events(client.output)[1]
        rate = metrics["throughput"] / 8 / DATAGRAM
        received, lost = metrics["received_bytes"], metrics["loss_rate"]
        return Reading(rate, received, lost, server_cpu(metrics))

    def job(setting: Setting, ports: list[int]) -> Job:
        options = ["--datagram", str(DATAGRAM), "--sockbuf", str(setting.buffer), *more]
        return _engine_job("udp", setting, ports, options, read)

    return Contender(name, "ours", job)


def rail_round_trip(
    engine: Literal["tcp", "udp"], poll: Poll, name: str = "", trials: int = 1
) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        replications = events(client.output)[1]
        best = min(metrics["rtt_mean"] for metrics in replications)
        trips = sum(metrics["round_trips"] for metrics in replications)
        return Reading(best, trips, server_cpu=server_cpu(*replications))

    def job(setting: Setting, ports: list[int]) -> Job:
        size = "--message" if engine == "tcp" else "--datagram"
        options = ["--mode", "latency", size, str(SMALL), "--poll", poll]
        if engine == "tcp":
            options += ["--congestion", CONGESTION, "--nodelay", "true"]
        return _engine_job(engine, setting, ports, options, read, trials)

    return Contender(name or f"rail-{engine}", "ours", job, trials=trials)


def rail_generator(rate: int) -> Contender:
    """Its target is the probe's receiver: a generator has no server, and a rate nobody received
    proves nothing.
    """

    def job(setting: Setting, ports: list[int]) -> Job:
        def read(client: Ended, server: Ended) -> Reading:
            (metrics,) = events(client.output)[1]
            return _received(values(server.output), metrics["sent_packets"], bits=True)

        program = str(setting.engines / "rail-udp")
        client = [program, "client", HOST, "--mode", "generator", "--rate", f"{rate}bit/s"]
        client += ["--data-port", str(ports[0]), "--datagram", str(DATAGRAM), "--json"]
        client += ["--replications", "1", "--duration", f"{setting.seconds}s"]
        client += ["--sockbuf", str(setting.buffer), "--client-cpu", str(setting.client_cpu)]
        client += ["--plan-hosts", HOST, "--deadline", f"{setting.seconds + 10}s"]
        # taskset pins the sink; the engine's own parameter says the same of the client.
        return Job(_sink(setting, ports), client, ("udp", ports[0]), read, server_ends=True)

    return Contender("rail-udp", "ours", job)


def values(output: str) -> dict[str, float]:
    """Numbers of a line of name=value; what has no number is left out."""
    numbers: dict[str, float] = {}
    for word in output.split():
        name, equals, value = word.partition("=")
        if equals:
            try:
                numbers[name] = float(value)
            except ValueError:
                continue
    return numbers


def _sink(setting: Setting, ports: list[int], *, gro: bool = False) -> list[str]:
    buffer = [str(setting.buffer), str(int(gro))]
    return [str(setting.probe), "udp-receive", str(ports[0]), str(DATAGRAM), *buffer]


def _received(sink: dict[str, float], sent: float, *, bits: bool = False) -> Reading:
    rate = sink["timed"] / sink["seconds"]
    lost = 1 - sink["received"] / sent
    return Reading(rate * DATAGRAM * 8 if bits else rate, sink["received"] * DATAGRAM, lost)


def probe_tcp_stream(message: int) -> Contender:
    def read(_: Ended, server: Ended) -> Reading:
        fields = values(server.output)
        return Reading(fields["received_bytes"] * 8 / fields["seconds"], fields["received_bytes"])

    def job(setting: Setting, ports: list[int]) -> Job:
        rest = [str(ports[0]), str(message)]
        server = [str(setting.probe), "tcp-receive", *rest]
        client = [str(setting.probe), "tcp-send", *rest, str(setting.seconds)]
        return Job(server, client, ("tcp", ports[0]), read, server_ends=True)

    return Contender("probe", "probe", job)


def probe_udp_stream(name: str, *, batch: int = 1, segments: int = 0) -> Contender:
    def read(client: Ended, server: Ended) -> Reading:
        return _received(values(server.output), values(client.output)["sent"])

    def job(setting: Setting, ports: list[int]) -> Job:
        client = [str(setting.probe), "udp-send", str(ports[0]), str(DATAGRAM)]
        client += [str(setting.seconds), str(setting.buffer), str(batch), str(segments)]
        sink = _sink(setting, ports, gro=segments > 0)
        return Job(sink, client, ("udp", ports[0]), read, server_ends=True)

    return Contender(name, "probe", job)


def probe_round_trip(protocol: Literal["tcp", "udp"], poll: Poll) -> Contender:
    def read(client: Ended, _: Ended) -> Reading:
        fields = values(client.output)
        return Reading(fields["round_trip"], fields["round_trips"])

    def job(setting: Setting, ports: list[int]) -> Job:
        rest = [str(ports[0]), str(SMALL)]
        busy = str(int(poll == "busy"))
        server = [str(setting.probe), f"{protocol}-echo", *rest, busy]
        client = [str(setting.probe), f"{protocol}-ping", *rest, str(setting.seconds), busy]
        return Job(server, client, (protocol, ports[0]), read, server_ends=protocol == "tcp")

    return Contender("probe", "probe", job)
