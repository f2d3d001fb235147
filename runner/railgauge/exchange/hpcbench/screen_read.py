"""Reads what udptest printed on the screen, below the command that was typed.

Only the command says which hosts and, but for what `-v` prints, which test it was.
"""

from __future__ import annotations

from decimal import Decimal

from railgauge.exchange.hpcbench.command import Command, parse_command
from railgauge.exchange.hpcbench.hpcbench_records import HpcbenchOutput, Setting
from railgauge.exchange.hpcbench.line_reader import Lines
from railgauge.exchange.hpcbench.values import base_value, count_losses, read_round_trips

_COMMAND = (
    "a file of Hpcbench's or, above what a screen showed, '[CLIENT DIR]$ udptest -h SERVER …'"
)
_ROW = "({number}) Throughput: {throughput} Loss-rate: {loss_rate}"
_TEST_DONE = 'Test done! The results are stored in file "{file}"'
_LOGS = 'Local-syslog: "{client_log}" server-syslog: "{server_log}"'
_MEGA = 1e6

_VERBOSE_TITLE = "UDP throughput fixed packet size test"
_VERBOSE_HEAD = (
    "{client} (client) <--> {server} (server)",
    "UDP-port: {port} UDP-send-buffer: {client_sndbuf} UDP-recv-buffer: {client_rcvbuf}",
)
_VERBOSE_FIRST = (
    "[Client] Sent-bytes: {sent_bytes} Sent-packets: {sent_packets}"
    " Recv-bytes: {reverse_received_bytes} Recv-Packets: {reverse_received_packets}"
)
_VERBOSE_REST = (
    "[Server] Recv-bytes: {received_bytes} Recv-Packets: {received_packets}"
    " Sent-bytes: {reverse_sent_bytes} Sent-Packets: {reverse_sent_packets}",
    "Client-time(Sec.): {client_elapsed} Server-time(Sec.): {server_elapsed}",
    "Network-throughput(Mbps): {throughput} Local-throughput: {local_throughput}",
    "Lost-packets (c->s): {lost_packets} Loss-rate(c->s): {loss_rate}",
)
_GENERATOR = (
    "Try to send UDP packets to {server} on port {data_port}",
    "Send-time(Seconds): {duration} Target-througput(Mbps): {rate}",
    "Done! Elapsed-time(Seconds): {client_elapsed}",
    "Sent-packets: {sent_packets} Sent-bytes: {sent_bytes} Throughput(Mbps): {local_throughput}",
)
_IN_MEGABITS = {"throughput", "local_throughput", "total_throughput", "rate"}
# What both ways together came to.
_BOTH_WAYS = {
    "throughput": "total_throughput",
    "local_throughput": "total_local_throughput",
}


def read_screen(lines: Lines) -> HpcbenchOutput:
    """Return what the screen showed; the lines end behind it, or behind the next prompt."""
    lines.skip_blank()
    command = _command(lines)
    if lines.sees(_VERBOSE_TITLE):
        output = _read_verbose(lines, command)
    elif command is None:
        raise lines.unexpected(_COMMAND)
    elif command.mode == "generator":
        output = _read_generator(lines, command)
    elif command.mode == "latency":
        output = _read_latency(lines, command)
    else:
        output = _read_throughputs(lines, command)
    lines.try_match("[{prompt} {folder}]$")
    return output


def _command(lines: Lines) -> Command | None:
    line = lines.peek()
    if line is None:
        return None
    try:
        command = parse_command(line)
    except ValueError as error:
        lines.at += 1
        raise lines.problem(str(error)) from error
    if command is not None:
        lines.at += 1
    return command


def _read_throughputs(lines: Lines, command: Command) -> HpcbenchOutput:
    rows: list[dict[str, float]] = []
    while (texts := lines.try_match(_ROW)) is not None:
        if texts["number"] != str(len(rows) + 1):
            message = f"this is test {texts['number']}, and {len(rows) + 1} would be next"
            raise lines.problem(message)
        metrics = _metrics(lines, {name: texts[name] for name in ("throughput", "loss_rate")})
        rows.append(_by_direction(metrics, command.mode))
    if not rows:
        raise lines.unexpected(_ROW.format(number=1, throughput="…", loss_rate="…"))
    if lines.try_match(_TEST_DONE) is not None:
        lines.try_match(_LOGS)
    return _output(command, {}, rows)


def _read_latency(lines: Lines, command: Command) -> HpcbenchOutput:
    message, rows = read_round_trips(lines)
    if message is None or message != command.settings.get("message", message):
        raise lines.problem("the messages have another size than the command says")
    return _output(command, {"message": message}, list(rows))


def _read_verbose(lines: Lines, command: Command | None) -> HpcbenchOutput:
    lines.match(_VERBOSE_TITLE)
    head = lines.match_all(*_VERBOSE_HEAD)
    command = command or Command(head["client"], head["server"], "stream", {})
    if (command.client, command.server) != (head["client"], head["server"]):
        raise lines.problem(f"the command says {command.client} and {command.server}")
    settings: dict[str, Setting] = {
        name: int(_number(lines, name, head[name])) for name in ("client_sndbuf", "client_rcvbuf")
    }
    rows = [_verbose_row(lines, command.mode)]
    while lines.sees(_VERBOSE_FIRST):
        rows.append(_verbose_row(lines, command.mode))
    lines.try_match("Test done!")
    return _output(command, settings, rows)


def _verbose_row(lines: Lines, mode: str) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for template in (_VERBOSE_FIRST, *_VERBOSE_REST):
        metrics |= _metrics(lines, dict(lines.match(template)))
    count_losses(lines, metrics)
    reverse = {name for name in metrics if name.startswith("reverse_")}
    if mode != "bidirectional":
        if any(metrics[name] for name in reverse):
            message = "packets went both ways, but the command doesn't say -i"
            raise lines.problem(message)
        metrics = {name: value for name, value in metrics.items() if name not in reverse}
    return _by_direction(metrics, mode)


def _read_generator(lines: Lines, command: Command) -> HpcbenchOutput:
    texts = lines.match_all(*_GENERATOR)
    if texts.pop("server") != command.server:
        raise lines.problem(f"the command says -h {command.server}")
    values = _metrics(lines, texts)
    settings: dict[str, Setting] = {
        "data_port": int(values.pop("data_port")),
        "duration": values.pop("duration"),
        "rate": values.pop("rate"),
    }
    return _output(command, settings, [values])


def _output(
    command: Command, settings: dict[str, Setting], rows: list[dict[str, float]]
) -> HpcbenchOutput:
    all_settings = command.settings | settings
    return HpcbenchOutput(
        command.mode, command.client, command.server, None, all_settings, tuple(rows)
    )


def _by_direction(metrics: dict[str, float], mode: str) -> dict[str, float]:
    if mode != "bidirectional":
        return metrics
    return {_BOTH_WAYS.get(name, name): value for name, value in metrics.items()}


def _metrics(lines: Lines, texts: dict[str, str]) -> dict[str, float]:
    return {
        name: base_value(_number(lines, name, text), _MEGA if name in _IN_MEGABITS else 1.0)
        for name, text in texts.items()
    }


def _number(lines: Lines, name: str, text: str) -> Decimal:
    number = lines.number(text, name)
    if number is None:
        raise lines.problem(f"{name} is missing")
    return number
