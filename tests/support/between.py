"""Someone between a client and its server, on the control channel, who changes what is said."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from types import TracebackType

from tests.support.wire import HEADER, PATIENCE, SEAL, Seals, Wire

Fields = dict[str, str]
# Takes a whole frame; returns the bytes that go on in its place, None to hang up on both.
Change = Callable[[bytes], bytes | None]


def frame(kind: int, fields: Fields) -> bytes:
    return Wire.frame(kind, "".join(f"{name} {value}\n" for name, value in fields.items()).encode())


def fields_of(whole: bytes) -> Fields:
    return dict(line.split(" ", 1) for line in whole[12:].decode().splitlines())


class Between:
    """Forwards frames both ways and hands those of one kind to `change`, from the nth on.

    Who is between has the secret, and seals what it changed; or else (None) it hands frames to
    `change` with their seals, and what comes back goes on as it is.
    mute: after that, nothing more goes on in that direction, but nobody hangs up.
    """

    def __init__(
        self,
        server_port: int,
        kind: int,
        change: Change,
        first: int = 1,
        *,
        mute: bool = False,
        secret: str | None = "",
    ) -> None:
        self.kind, self.change, self.left, self.mute = kind, change, first, mute
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.server_port, self.secret = server_port, secret
        self.hello = b""
        self.seals: list[Seals | None] = [None, None]  # the client's and the server's
        self.sockets = [self.listener]
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def __enter__(self) -> Between:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hang_up()
        for thread in self.threads:
            thread.join(PATIENCE)
        for sock in self.sockets:
            sock.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.server_port))
            self.sockets += [client, server]
            for way in ((client, server, 0), (server, client, 1)):
                thread = threading.Thread(target=self._forward, args=way)
                self.threads.append(thread)
                thread.start()

    def _forward(self, source: socket.socket, sink: socket.socket, end: int) -> None:
        wire = Wire(source)
        source.settimeout(None)
        with contextlib.suppress(OSError, EOFError):
            while True:
                header = wire.exactly(HEADER.size)
                _, _, kind, length = HEADER.unpack(header)
                whole = header + wire.exactly(length)
                sealed = self._sealed(kind, end)
                seal = wire.exactly(SEAL) if sealed else b""
                self._learn(kind, whole)
                passed = self._judge(kind, whole if self.secret is not None else whole + seal)
                if passed is None:
                    break
                # What is held back or cut is no frame: the next one's seal is that of its place.
                own = sealed.seal(passed) if sealed and len(passed) >= HEADER.size else b""
                passed += own if self.secret is not None else b""
                sink.sendall(passed)
                while kind == self.kind and self.mute and source.recv(65536):
                    pass
        self._hang_up()

    def _sealed(self, kind: int, end: int) -> Seals | None:
        """Return what seals the frame; a server that serves nobody has no seal."""
        seals = self.seals[end]
        return None if seals and end == 1 and kind == Wire.FAILED and not seals.count else seals

    def _learn(self, kind: int, whole: bytes) -> None:
        if kind == Wire.HELLO:
            self.hello = whole
        elif kind == Wire.CHALLENGE:
            ends = ("client", "server")
            self.seals = [Seals(self.secret or "", end, self.hello, whole) for end in ends]

    def _judge(self, kind: int, whole: bytes) -> bytes | None:
        if kind != self.kind:
            return whole
        self.left -= 1
        return whole if self.left > 0 else self.change(whole)

    def _hang_up(self) -> None:
        for sock in self.sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
