"""Write the fuzz targets' first inputs: seeds.py FOLDER makes FOLDER/TARGET/NAME."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

HEADER = Path(__file__).parents[2] / "engines/lib/control.h"
FIXTURES = Path(__file__).parents[1] / "fixtures"
MAGIC = 0x5241494C
PROTOCOL = int(re.findall(r"#define CONTROL_VERSION (\d+)", HEADER.read_text())[0])
(
    HELLO,
    WELCOME,
    SETUP,
    SETTINGS,
    START,
    READY,
    END,
    RESULT,
    FAILED,
    BYE,
    CLOCK,
    TIME_IS,
    TRACE,
    PART,
    CHALLENGE,
    PROOF,
) = range(1, 17)
NONCE, SEAL = bytes(range(32)), bytes(32)  # a target may take any seal for valid


def frame(kind: int, protocol: int = PROTOCOL, **fields: object) -> bytes:
    payload = "".join(f"{name} {value}\n" for name, value in fields.items()).encode()
    return struct.pack(">IHHI", MAGIC, protocol, kind, len(payload)) + payload


def plain(kind: int, data: bytes, protocol: int = PROTOCOL) -> bytes:
    return struct.pack(">IHHI", MAGIC, protocol, kind, len(data)) + data


def part(data: bytes) -> bytes:
    return plain(PART, data)


def proof(engine: str) -> bytes:
    return plain(HELLO, NONCE) + frame(PROOF, engine=engine, version="0.1.0") + SEAL


CONTROL = {
    "hello": plain(HELLO, NONCE),
    "challenge": plain(CHALLENGE, NONCE),
    "proof": frame(PROOF, engine="udp", version="0.1.0"),
    "setup": frame(SETUP, mode="stream", datagram=1460, sockbuf="1048576", duration=0.1, ip="any"),
    "settings": frame(SETTINGS, ports=5210, rcvbuf=425984, warning="buffer-clamped got 1 of 2"),
    "start": frame(
        START, number=1, duration=5, count=0, client_ports="40000,40001", token="0123456789abcdef"
    ),
    "result": frame(RESULT, elapsed=0.5, user_time=1e-3, system_time=0, received=10, timed=9),
    "odd": frame(RESULT, elapsed="nan", received=-1, timed="0x10", drops="1e400", duplicates=""),
    "failed": frame(FAILED, code="busy", message="the server is serving another client"),
    "two": frame(WELCOME) + frame(BYE),
    "two-sealed": frame(WELCOME) + SEAL + frame(BYE) + SEAL,
    "newer": frame(SETTINGS, protocol=9),
    "part": frame(WELCOME) + part(b"RGT1\x80"),
    "half": frame(SETUP, mode="stream")[:-3],
    "huge": struct.pack(">IHHI", MAGIC, PROTOCOL, SETUP, 0xFFFFFFFF),
    "longest-value": frame(SETUP, name="v" * 2047),
}
GUESTS = {
    "right": proof("udp"),
    "other-engine": proof("tcp"),
    "newer": plain(HELLO, NONCE, protocol=PROTOCOL + 1),
    "older": frame(HELLO, protocol=2, engine="udp", version="0.1.0", secret="open sesame"),
    "silent": b"",
    "start": CONTROL["start"],
    "limit": frame(HELLO, x="y" * 1021),
    "over": frame(HELLO, x="y" * 1022),
}
PIECES = {"whole": 0, "bytes": 1, "header": 12, "sealed": 0x80, "sealed-bytes": 0x81}
TEXTS = [
    "1460",
    "4KiB",
    "64 KiB",
    "1e3",
    "0.5ms",
    "12us",
    "100ns",
    "1h",
    "2.5Gbit/s",
    "150Mbit/s",
    "10k",
    "1e400",
    "1e-400",
    "0x10",
    "007",
    "9007199254740993",
    "stream",
    "latency",
    "true",
    "off",
    "cubic",
    "0,2-3",
    "-1",
    "nan",
    "",
    "1.5B",
]


def trace(*numbers: int, data: bytes = b"RGT1") -> bytes:
    """A trace of those varints."""
    for number in numbers:
        while number > 0x7F:
            data += bytes([number & 0x7F | 0x80])
            number >>= 7
        data += bytes([number])
    return data


# clock, sent, arrived, recorded, first times, then three steps an arrival (1: one back, 2: one on)
TRACES = {
    "empty": trace(0, 10, 0, 0, 0, 0),
    "one": trace(1, 1, 1, 1, 10**18, 12345678901, 0, 0, 0),
    "loss": trace(0, 9, 3, 3, 5000, 900, 4, 0, 0, 0, 24, 22, 2, 24, 26),
    "duplicate": trace(0, 9, 4, 3, 5000, 900, 0, 0, 0, 1, 24, 0, 3, 23, 25),
    "never-sent": trace(0, 2, 2, 1, 5000, 900, 4, 0, 0),
    "claims-millions": trace(0, 10**7, 10**7, 10**7, 1, 1, 0, 0, 0),
    "largest": trace(0, 2**63 - 1, 2**63 - 1, 1, 2**63 - 1, 2**63 - 1, 2**64 - 4, 0, 0),
    "far-apart": trace(0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 2**64 - 1, 2**64 - 2),
    "over": trace(0, 1, 1, 1, 0, 0, 0, 0, 0, 0),
}

_MS = 10**6


def intervals(rows: int, elapsed: int, *steps: int) -> bytes:
    """Datagrams received and lost by the end of intervals of 10 ms, the first of them omitted."""
    columns = (6, rows, elapsed, 7, rows, elapsed)
    return trace(10 * _MS, 10 * _MS, 2, *columns, *steps, data=b"RGI1")


# Twice what each interval has more than the one before, first of what was received.
INTERVALS = {
    "intervals": intervals(3, 24 * _MS, 20, 14, 22, 0, 6, 1),
    "intervals-omitted": intervals(1, 10 * _MS, 20, 0),
    "intervals-backwards": intervals(3, 14 * _MS, 20, 14, 22, 0, 6, 1),
    "intervals-claimed": intervals(10**5, 10**15, 20, 14),
}

_ETHERNET = bytes(12)
_IP4 = bytes.fromhex("4500001c00004000401100000a6300010a630002")
_IP6 = bytes.fromhex("6000000000081140") + bytes(32)
_UDP = bytes.fromhex("03e803e900080000")
ETHERNET_FRAMES = {
    "udp4": _ETHERNET + b"\x08\x00" + _IP4 + _UDP + bytes(16),
    "udp6": _ETHERNET + b"\x86\xdd" + _IP6 + _UDP,
    "extensions": _ETHERNET + b"\x86\xdd" + _IP6.replace(b"\x11", b"\x00") + bytes(8) + _UDP,
    "fragment": _ETHERNET
    + b"\x86\xdd"
    + _IP6.replace(b"\x11", b"\x2c")
    + b"\x11"
    + bytes(7)
    + _UDP,
    "tagged": _ETHERNET + b"\x81\x00\x00\x01\x08\x00" + _IP4 + _UDP,
    "options": _ETHERNET + b"\x08\x00\x4f" + _IP4[1:] + bytes(40) + _UDP,
    "arp": _ETHERNET + b"\x08\x06" + bytes(28),
}


def slot(frame: bytes, status: int = 1, missing: int = 0, kind: int = 0) -> bytes:
    """A slot of TPACKET_V2: its header, sockaddr_ll, and the frame from byte 66 on."""
    length = len(frame)
    numbers = (status, length, length - missing, 66, 80, 0, 0, 5, 0x8100)
    header = struct.pack("=IIIHHIIHH4x", *numbers) + bytes(10) + bytes([kind]) + bytes(9)
    return header.ljust(66, b"\0") + frame


SLOTS = {
    "frame": slot(ETHERNET_FRAMES["udp4"]),
    "tagged": slot(ETHERNET_FRAMES["udp4"], status=0x51),
    "no-check-sum": slot(ETHERNET_FRAMES["udp4"], status=0x9),
    "cut": slot(ETHERNET_FRAMES["udp6"], missing=20),
    "outgoing": slot(ETHERNET_FRAMES["arp"], kind=4),
    "empty": slot(b""),
}

MARKS = {
    "begin": b"\0begin 17 3",
    "end": b"\0end 9223372036854775807 2147483647",
    "beyond": b"\0end 9223372036854775808 0",
    "no-number": b"\0begin 17 ",
    "two-spaces": b"\0end  17 1",
    "watchers": b"\1rail-watch.1+rail-soak.1,rail-watch.2:17",
    "three": b"\1a+b+c:1",
    "no-launch": b"\1a,b:",
}

GREETING = plain(CHALLENGE, NONCE) + SEAL.join(
    [frame(WELCOME), frame(SETTINGS, ports="5210,5211"), *[frame(TIME_IS, now="0" * 16)] * 16, b""]
)


def servers() -> dict[str, bytes]:
    """What a server says; a first byte of 1 leaves out the greeting."""
    inputs = {"short": b"\x01" + frame(RESULT, trace_bytes=9) + SEAL + part(b"RGT1") + SEAL}
    for name, data in TRACES.items():
        result = frame(RESULT, trace_bytes=len(data)) + SEAL
        inputs[name] = b"\x01" + result + part(data) + SEAL
        parts = part(data[:5]) + SEAL + part(data[5:]) + SEAL
        inputs[f"{name}-greeted"] = b"\x00" + GREETING + result + parts
    return inputs


# What rail-watch reads, in the order of the target's parsers.
KERNEL_FILES = [
    "proc/stat",
    "proc/interrupts",
    "proc/softirqs",
    "proc/meminfo",
    "proc/vmstat",
    "proc/net/dev",
    "proc/net/snmp",
    "proc/net/snmp6",
    "proc/net/softnet_stat",
    "proc/pressure/cpu",
]
CONTROL_GROUP = [
    b"7000000",
    b"nr_throttled 2\nthrottled_time 3000\n",
    b"max",
    b"100000",
    b"9",
    b"max",
]


def kernel_files() -> dict[str, bytes]:
    """A reading and another, in which a line is gone."""
    texts = [(FIXTURES / "proc-cluster" / path).read_bytes() for path in KERNEL_FILES]
    inputs = {}
    for number, text in enumerate([*texts, *CONTROL_GROUP, b"max 100000\n"]):
        lines = text.splitlines(keepends=True)
        inputs[f"{number}"] = bytes([number]) + text
        inputs[f"{number}-less"] = (
            bytes([number]) + text + b"\xff" + b"".join(lines[:1] + lines[2:])
        )
    return inputs


def seeds() -> dict[str, dict[str, bytes]]:
    return {
        "client": servers(),
        "control": {
            f"{name}-{sealed}": bytes([sealed]) + message + SEAL[: 32 * sealed]
            for sealed in range(3)
            for name, message in CONTROL.items()
        },
        "frame": ETHERNET_FRAMES,
        "hello": {
            f"{name}-{way}": bytes([length]) + guest
            for name, guest in GUESTS.items()
            for way, length in PIECES.items()
        },
        "mark": MARKS,
        "packet": SLOTS,
        "parameters": {
            f"{number}-{kind}": bytes([kind]) + text.encode()
            for number, text in enumerate(TEXTS)
            for kind in range(9)
        },
        "session": {
            f"{name}-{request}": bytes([request]) + message[12:]
            for request in range(3)
            for name, message in CONTROL.items()
        },
        "trace": TRACES | INTERVALS,
        "watch": kernel_files(),
    }


def main(folder: Path) -> None:
    for target, inputs in seeds().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / target / name).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
