"""Both ends of a UDP stream in plain Python: what they send, count and claim is the test's."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

from tests.support.control_server import ControlServer
from tests.support.wire import PATIENCE, Wire

TOKEN = 0xFEDCBA9876543210  # stands for the replication's, which a Stream puts in its place


def datagram(number: int, size: int = 100, token: int = TOKEN, sent_at: int = 0) -> bytes:
    """Make a datagram as the engine does, with as much of a header as there is room for."""
    if size >= 24:
        return struct.pack(">QQQ", token, number, sent_at).ljust(size, b"x")
    if size >= 16:
        return struct.pack(">QQ", token, number).ljust(size, b"x")
    if size >= 8:
        return struct.pack(">Q", number).ljust(size, b"x")
    if size >= 4:
        return struct.pack(">I", number % 2**32).ljust(size, b"x")
    return b"x" * size


def number_of(packet: bytes) -> int:
    """Read the number of a datagram of at least 16 bytes."""
    number: int = struct.unpack_from(">Q", packet, 8)[0]
    return number


class Stream(socket.socket):
    """A client's test socket."""

    token = TOKEN

    def send(self, packet: bytes, *flags: int) -> int:  # type: ignore[override]
        """Send datagrams, with the replication's token for TOKEN and the next for TOKEN + 1."""
        for shift in (0, 1):
            own = struct.pack(">Q", (self.token + shift) % 2**64)
            packet = packet.replace(struct.pack(">Q", TOKEN + shift), own)
        return super().send(packet, *flags)


class StreamClient:
    """A client that sends what it is told to, to a server of the engine."""

    def __init__(self, server_port: int, host: str = "127.0.0.1", **setup: object) -> None:
        self.host = host
        self.wire = Wire.to(server_port, host)
        self.wire.hello("udp")
        self.wire.expect(Wire.WELCOME)
        self.wire.send(Wire.SETUP, **setup)
        self.settings = self.wire.expect(Wire.SETTINGS)
        self.ports = [int(port) for port in self.settings["ports"].split(",")]
        self.sockets: list[Stream] = []

    def start(self, number: int = 1, count: int = 0, duration: float = 1) -> None:
        """Begin a replication, with sockets of its own."""
        self.sockets = [Stream(type=socket.SOCK_DGRAM) for _ in self.ports]
        for sock, port in zip(self.sockets, self.ports, strict=True):
            sock.connect((self.host, port))
            sock.settimeout(PATIENCE)
        ports = ",".join(str(sock.getsockname()[1]) for sock in self.sockets)
        start = {"number": number, "duration": duration, "count": count}
        self.wire.send(Wire.START, client_ports=ports, **start)
        self.wire.expect(Wire.READY)
        for sock in self.sockets:
            sock.token = self.wire.token()

    def end(self, sent: object) -> tuple[int, dict[str, str]]:
        """Say what was sent; return the kind and fields of the answer."""
        self.wire.send(Wire.END, sent=sent)
        return self.wire.receive()

    def trace(self, length: int) -> bytes:
        """Fetch the replication's trace."""
        data = b""
        while len(data) < length:
            self.wire.send(Wire.TRACE, at=len(data))
            kind, part = self.wire.receive_bytes()
            assert kind == Wire.PART
            data += part
        return data


Result = Callable[[list[bytes]], dict[str, object]]


class StreamServer(ControlServer):
    """A server of one stream: `result` makes its answer of what arrived, `back` what it sends.

    A trace that `result` names `trace` is handed over as the client asks for it.
    """

    def __init__(self, result: Result, back: Callable[[int], list[bytes]] = lambda _: []) -> None:
        self.result, self.back = result, back
        self.arrived: list[bytes] = []
        self.data = socket.socket(type=socket.SOCK_DGRAM)
        self.data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.data.bind(("127.0.0.1", 0))
        super().__init__(self.data)

    def follow(self, peer: Wire) -> None:
        trace = b""
        peer.welcome()
        peer.expect(Wire.SETUP)
        peer.send(Wire.SETTINGS, ports=self.data.getsockname()[1])
        while (request := peer.receive())[0] != Wire.BYE:
            kind, fields = request
            if kind == Wire.CLOCK:
                peer.send(Wire.TIME_IS, now="0" * 16)
            elif kind == Wire.START:
                peer.send(Wire.READY)
                self._exchange(peer.token(), int(fields["count"]))
            elif kind == Wire.END:
                answer = {"elapsed": 1, "user_time": 0, "system_time": 0, "drops": 0}
                answer |= {"polling_time": 0, "spinning_time": 0, "drain_time": 0.2}
                answer |= {"duplicates": 0, "reordered": 0} | self.result(self.arrived)
                trace = bytes(answer.pop("trace", b""))
                peer.send(Wire.RESULT, trace_bytes=len(trace), **answer)
            else:
                assert kind == Wire.TRACE
                part = trace[int(fields["at"]) :][:1000]
                peer.send_bytes(Wire.PART, part)

    def _exchange(self, token: int, count: int) -> None:
        self.arrived = []
        while len(self.arrived) < count:
            packet, client = self.data.recvfrom(65536)
            if not self.arrived:
                for answer in self.back(token):
                    self.data.sendto(answer, client)
            self.arrived.append(packet)


def _varint(number: int) -> bytes:
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F)
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else -number * 2 - 1)


def encode(sent: int, arrivals: list[tuple[int, int, int]], clock: int = 3) -> bytes:
    """Write a trace as docs/trace.md has it, of (number, received, sent at), all recorded."""
    number, received, sent_at = -1, *arrivals[0][1:]
    data = b"RGT1" + b"".join(
        _varint(n) for n in (clock, sent, len(arrivals), len(arrivals), received, sent_at)
    )
    for arrival in arrivals:
        data += _zigzag(arrival[0] - number - 1)
        data += _zigzag(arrival[1] - received) + _zigzag(arrival[2] - sent_at)
        number, received, sent_at = arrival
    return data
