"""Reads the command line of udptest, which says what a screen doesn't: hosts and parameters."""

from __future__ import annotations

import getopt
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath

from railgauge.exchange.hpcbench.hpcbench_records import Setting

# `[mk1 ~/hpcbench/udp]$ ./udptest -h mk4 -r 6`
_PROMPT = re.compile(r"\[(?:\S+@)?(\S+)\s[^\]]*\][$#]\s*(\S.*)")
_OPTIONS = "aA:b:B:cd:egh:il:m:o:p:Pq:r:t:T:v"
_MODES = {"-a": "latency", "-A": "latency", "-e": "exponential", "-g": "generator"}
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)([kKmM]?)", re.ASCII)
# -q 1 to 6
_TOS = {"1": 0x10, "2": 0x08, "3": 0x28, "4": 0x38, "5": 0x88, "6": 0x98}


@dataclass(frozen=True, slots=True)
class Command:
    """What a command line says: the hosts, the mode, and settings named as an output's are."""

    client: str
    server: str
    mode: str
    settings: dict[str, Setting]


def parse_command(line: str) -> Command | None:
    """Return what the line says, None when it is no prompt with a udptest command.

    ValueError when the command has options that udptest doesn't.
    """
    match = _PROMPT.fullmatch(line)
    if match is None:
        return None
    words = shlex.split(match[2])
    if PurePath(words[0]).name != "udptest":
        return None
    try:
        options, rest = getopt.getopt(words[1:], _OPTIONS)
    except getopt.GetoptError as error:
        raise ValueError(f"udptest has no such option: {error}") from error
    arguments = dict(options)
    if rest or "-h" not in arguments:
        raise ValueError("udptest needs -h HOST, and options only")
    modes = {_MODES[name] for name in arguments if name in _MODES}
    modes |= {"bidirectional"} if "-i" in arguments else set()
    if len(modes) > 1:
        raise ValueError(f"udptest does one of {', '.join(sorted(modes))} at a time")
    mode = modes.pop() if modes else "stream"
    settings = {
        name: parse(arguments[option])
        for option, (name, parse) in _SETTINGS.items()
        if option in arguments
    }
    return Command(match[1], arguments["-h"], mode, settings)


def _size(text: str) -> int:
    return int(_scaled(text, 1024))


def _rate(text: str) -> float:
    return float(_scaled(text, 1000))


def _seconds(text: str) -> float:
    return float(_scaled(text, 1))


def _tos(text: str) -> int:
    if text not in _TOS:
        raise ValueError(f"-q {text} is none of {', '.join(_TOS)}")
    return _TOS[text]


def _scaled(text: str, base: int) -> Decimal:
    match = _NUMBER.fullmatch(text)
    if match is None or (match[2] and base == 1):
        raise ValueError(f"{text!r} is not a number that udptest takes")
    power = ["", "k", "m"].index(match[2].lower())
    return Decimal(match[1]) * Decimal(base) ** power


_SETTINGS: dict[str, tuple[str, Callable[[str], Setting]]] = {
    "-A": ("message", _size),
    "-b": ("sockbuf", _size),
    "-B": ("server_sockbuf", _size),
    "-d": ("client_data", _size),
    "-l": ("client_packet", _size),
    "-q": ("client_tos", _tos),
    "-t": ("duration", _seconds),
    "-T": ("rate", _rate),
}
