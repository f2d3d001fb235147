"""The control protocol, spoken by a peer that may break it on purpose."""

from __future__ import annotations

import socket
import struct

PATIENCE = 30  # seconds for what takes one at most, on a busy machine


class Wire:
    """The control protocol, as a peer that may break it on purpose."""

    MAGIC = 0x5241494C
    PROTOCOL = 2
    HELLO, WELCOME, SETUP, SETTINGS, START, READY, END, RESULT, FAILED, BYE = range(1, 11)
    CLOCK, TIME_IS, TRACE, PART = range(11, 15)

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(PATIENCE)

    @classmethod
    def to(cls, port: int, host: str = "127.0.0.1") -> Wire:
        return cls(socket.create_connection((host, port)))

    def send(self, kind: int, *, protocol: int = PROTOCOL, **fields: object) -> None:
        payload = "".join(f"{name} {value}\n" for name, value in fields.items()).encode()
        self.socket.sendall(
            struct.pack(">IHHI", self.MAGIC, protocol, kind, len(payload)) + payload
        )

    def exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            step = self.socket.recv(size - len(data))
            if not step:
                raise EOFError
            data += step
        return data

    def receive(self) -> tuple[int, dict[str, str]]:
        magic, _, kind, length = struct.unpack(">IHHI", self.exactly(12))
        assert magic == self.MAGIC
        lines = self.exactly(length).decode().splitlines()
        return kind, dict(line.split(" ", 1) for line in lines)

    def expect(self, kind: int) -> dict[str, str]:
        got, fields = self.receive()
        assert got == kind, (got, fields)
        return fields

    def hello(self, engine: str, secret: str = "") -> None:
        self.send(self.HELLO, engine=engine, version="0.1.0", secret=secret)

    def hung_up(self) -> bool:
        """True if the other end closes without another word."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()
