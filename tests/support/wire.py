"""The control protocol, spoken by a peer that may break it on purpose."""

from __future__ import annotations

import hmac
import os
import socket
import struct

PATIENCE = 30  # seconds for what takes one at most, on a busy machine
HEADER = struct.Struct(">IHHI")
NONCE, SEAL = 32, 32  # bytes


def _mac(key: bytes, *parts: bytes) -> bytes:
    return hmac.digest(key, b"".join(parts), "sha256")


class Seals:
    """Seals and checks one direction's frames; `purpose` is client, server or data."""

    def __init__(self, secret: str, purpose: str, hello: bytes, challenge: bytes) -> None:
        self.key = _mac(secret.encode(), purpose.encode(), b"\0", hello, challenge)
        self.count = 0

    def seal(self, frame: bytes) -> bytes:
        """Return the seal of the next frame."""
        self.count += 1
        return _mac(self.key, struct.pack(">Q", self.count - 1), frame)


class Wire:
    """The control protocol, as a peer that may break it on purpose."""

    MAGIC = 0x5241494C
    PROTOCOL = 3
    HELLO, WELCOME, SETUP, SETTINGS, START, READY, END, RESULT, FAILED, BYE = range(1, 11)
    CLOCK, TIME_IS, TRACE, PART, CHALLENGE, PROOF = range(11, 17)

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(PATIENCE)
        self.outgoing: Seals | None = None
        self.incoming: Seals | None = None
        self.data: Seals | None = None

    @classmethod
    def to(cls, port: int, host: str = "127.0.0.1") -> Wire:
        return cls(socket.create_connection((host, port)))

    @classmethod
    def frame(cls, kind: int, payload: bytes = b"", protocol: int = PROTOCOL) -> bytes:
        """Return header and payload, without a seal."""
        return HEADER.pack(cls.MAGIC, protocol, kind, len(payload)) + payload

    def send_bytes(self, kind: int, payload: bytes, protocol: int = PROTOCOL) -> None:
        frame = self.frame(kind, payload, protocol)
        self.socket.sendall(frame + (self.outgoing.seal(frame) if self.outgoing else b""))

    def send(self, kind: int, *, protocol: int = PROTOCOL, **fields: object) -> None:
        payload = "".join(f"{name} {value}\n" for name, value in fields.items()).encode()
        self.send_bytes(kind, payload, protocol)

    def exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            step = self.socket.recv(size - len(data))
            if not step:
                raise EOFError
            data += step
        return data

    def receive_bytes(self) -> tuple[int, bytes]:
        """Return kind and payload of the next frame, whose seal is checked."""
        header = self.exactly(HEADER.size)
        magic, _, kind, length = HEADER.unpack(header)
        assert magic == self.MAGIC
        payload = self.exactly(length)
        if self.incoming and (self.incoming.count or kind != self.FAILED):
            assert self.exactly(SEAL) == self.incoming.seal(header + payload)
        return kind, payload

    def receive(self) -> tuple[int, dict[str, str]]:
        kind, payload = self.receive_bytes()
        return kind, dict(line.split(" ", 1) for line in payload.decode().splitlines())

    def expect(self, kind: int) -> dict[str, str]:
        frame_kind, fields = self.receive()
        assert frame_kind == kind, (frame_kind, fields)
        return fields

    def hello(self, engine: str, secret: str = "") -> None:
        """Say who we are, as a client does; the answer is up to the server."""
        hello = self.frame(self.HELLO, os.urandom(NONCE))
        self.socket.sendall(hello)
        kind, nonce = self.receive_bytes()
        assert kind == self.CHALLENGE
        self.begin(secret, hello, self.frame(self.CHALLENGE, nonce), server=False)
        self.send(self.PROOF, engine=engine, version="0.1.0")

    def welcome(self, secret: str = "") -> None:
        """Receive a client as a server does."""
        kind, nonce = self.receive_bytes()
        assert kind == self.HELLO
        challenge = self.frame(self.CHALLENGE, os.urandom(NONCE))
        self.socket.sendall(challenge)
        self.begin(secret, self.frame(self.HELLO, nonce), challenge, server=True)
        self.expect(self.PROOF)
        self.send(self.WELCOME)

    def begin(self, secret: str, hello: bytes, challenge: bytes, *, server: bool) -> None:
        """Seal all that follows."""
        client, own = (Seals(secret, who, hello, challenge) for who in ("client", "server"))
        self.outgoing, self.incoming = (own, client) if server else (client, own)
        self.data = Seals(secret, "data", hello, challenge)
        self.from_client = client

    def token(self) -> int:
        """Return what test data is known by, just after the client's START."""
        assert self.data
        number = struct.pack(">Q", self.from_client.count)
        return int.from_bytes(_mac(self.data.key, number)[:8], "big")

    def hung_up(self) -> bool:
        """True if the other end closes without another word."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.socket.close()
