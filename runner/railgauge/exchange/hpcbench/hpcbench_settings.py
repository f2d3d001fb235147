"""The lines of an output's head from and to a case's parameters and both sides' settings."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, Setting
from railgauge.plan.cases import Value
from railgauge.plan.catalogue import EngineInfo

# What only Hpcbench has, by the names that its values have in a launch's settings.
_SIDES = {
    "sndbuf": "sndbuf",
    "rcvbuf": "rcvbuf",
    "tos": "tos",
    "packet": "packet_size",
    "data": "data_size",
}
_CLIENT = {"message": "message_size", "iterations": "iterations"}


def case_parameters(
    output: HpcbenchOutput, metrics: Mapping[str, float], engine: EngineInfo
) -> dict[str, Value]:
    """Return the parameters of rail-udp that the output gives, for the row with `metrics`.

    ValueError for one that rail-udp can't have.
    """
    settings = output.settings
    mode = "stream" if output.mode == "exponential" else output.mode
    values: dict[str, Setting | None] = {
        "duration": settings.get("duration"),
        "count": settings.get("iterations"),
        "datagram": _datagram(output, metrics),
        "rate": settings.get("rate"),
        "sockbuf": settings.get("sockbuf", settings.get("client_sndbuf")),
        "server_sockbuf": settings.get("server_sockbuf", settings.get("server_sndbuf")),
        "tos": settings.get("client_tos"),
        "data_port": settings.get("data_port"),
    }
    if values["server_sockbuf"] == values["sockbuf"]:
        values["server_sockbuf"] = None
    parameters: dict[str, Value] = {"mode": mode}
    for name, value in values.items():
        if value is not None:
            parameters[name] = _parse(engine, name, value)
    return parameters


def launch_settings(output: HpcbenchOutput) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return what the output says of the client's and of the server's settings."""
    client: dict[str, Value] = {}
    server: dict[str, Value] = {}
    for side, settings in (("client", client), ("server", server)):
        for name, stored_name in _SIDES.items():
            if (value := output.settings.get(f"{side}_{name}")) is not None:
                settings[stored_name] = value
    for name, stored_name in _CLIENT.items():
        if (value := output.settings.get(name)) is not None:
            client[stored_name] = value
    return client, server


def output_settings(
    parameters: Mapping[str, Value], client: Mapping[str, Value], server: Mapping[str, Value]
) -> dict[str, Setting]:
    """Return the lines of a head for a case, as far as its parameters and settings say."""
    count = parameters.get("count") or None
    datagram = parameters.get("datagram")
    values: dict[str, Value | None] = {
        # With a count, the time is what comes of it.
        "duration": None if count else parameters.get("duration"),
        "iterations": client.get("iterations", count),
        "message": client.get("message_size"),
    }
    if parameters.get("mode") == "latency":
        values["message"] = client.get("message_size", datagram)
    for side, settings in (("client", client), ("server", server)):
        for name, stored_name in _SIDES.items():
            values[f"{side}_{name}"] = settings.get(stored_name)
        for name in ("packet", "data"):
            if values[f"{side}_{name}"] is None:
                values[f"{side}_{name}"] = datagram
        if values[f"{side}_tos"] is None:
            values[f"{side}_tos"] = parameters.get("tos")
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _datagram(output: HpcbenchOutput, metrics: Mapping[str, float]) -> Setting | None:
    """Return the bytes in each datagram: no more than are written at once, nor than fit in one."""
    if output.mode == "exponential":
        return int(metrics["datagram"])
    if output.mode == "latency":
        return output.settings.get("message")
    sizes = [output.settings.get(f"client_{name}") for name in ("data", "packet")]
    return min((size for size in sizes if size is not None), default=None)


def _parse(engine: EngineInfo, name: str, value: Setting) -> Value:
    info = engine.parameters[name]
    try:
        # A plan's times and rates need their unit, other numbers are counts or bytes.
        unit = info.unit if info.type in ("time", "rate") else ""
        return info.parse(f"{value!r}{unit}" if unit else value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
