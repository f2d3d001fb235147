"""Servers in plain Python: one client each, whose control channel a thread serves."""

from __future__ import annotations

import contextlib
import socket
import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from tests.support.wire import PATIENCE, Wire


class ControlServer(ABC):
    """Serves one client while it is entered; `sockets` are those that its data come by."""

    def __init__(self, *sockets: socket.socket) -> None:
        self.sockets = sockets
        self.control = socket.create_server(("127.0.0.1", 0))
        for sock in (self.control, *sockets):
            sock.settimeout(PATIENCE)
        self.port: int = self.control.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)

    @abstractmethod
    def follow(self, peer: Wire) -> None:
        """Do what the client asks for, to the end."""

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        # For whoever still waits for a client.
        for sock in (self.control, *self.sockets):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        for sock in (self.control, *self.sockets):
            sock.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            connection, _ = self.control.accept()
            with connection:
                self.follow(Wire(connection))
