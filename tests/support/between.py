"""Someone between a client and its server, on the control channel, who changes what is said."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType

from tests.support.wire import PATIENCE, Wire

Fields = dict[str, str]
# Takes a whole frame; returns the bytes that go on in its place, None to hang up on both.
Change = Callable[[bytes], bytes | None]


def frame(kind: int, fields: Fields) -> bytes:
    payload = "".join(f"{name} {value}\n" for name, value in fields.items()).encode()
    return struct.pack(">IHHI", Wire.MAGIC, Wire.PROTOCOL, kind, len(payload)) + payload


def fields_of(whole: bytes) -> Fields:
    return dict(line.split(" ", 1) for line in whole[12:].decode().splitlines())


class Between:
    """Forwards frames both ways and hands those of one kind to `change`, from the nth on.

    mute: after that, nothing more goes on in that direction, but nobody hangs up.
    """

    def __init__(
        self, server_port: int, kind: int, change: Change, first: int = 1, *, mute: bool = False
    ) -> None:
        self.kind, self.change, self.left, self.mute = kind, change, first, mute
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.server_port = server_port
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
        for each in self.sockets:
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.server_port))
            self.sockets += [client, server]
            for pair in ((client, server), (server, client)):
                thread = threading.Thread(target=self._forward, args=pair)
                self.threads.append(thread)
                thread.start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        wire = Wire(source)
        source.settimeout(None)
        with contextlib.suppress(OSError, EOFError):
            while True:
                header = wire.exactly(12)
                _, _, kind, length = struct.unpack(">IHHI", header)
                passed = self._judge(kind, header + wire.exactly(length))
                if passed is None:
                    break
                sink.sendall(passed)
                while kind == self.kind and self.mute and source.recv(65536):
                    pass
        self._hang_up()

    def _judge(self, kind: int, whole: bytes) -> bytes | None:
        if kind != self.kind:
            return whole
        self.left -= 1
        return whole if self.left > 0 else self.change(whole)

    def _hang_up(self) -> None:
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
