"""A server for rail-tcp's clients, in Python: it keeps what each connection brought."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable

from tests.support.control_server import ControlServer
from tests.support.wire import PATIENCE, Wire

DATA_SEGMENTS_IN = 152  # offset of tcpi_data_segs_in in struct tcp_info


class Sink(ControlServer):
    """Serves one client. Of the last replication: `brought`, what came by each connection, and
    `segments`, how many TCP segments it came in, by the kernel of this end.

    back: what it sends by each connection meanwhile; claimed: how much of that it says it sent;
    pause: seconds before the last of its bytes; idle: seconds before it takes any;
    before_answer: called when a connection's greeting has come.
    """

    def __init__(
        self,
        connections: int = 1,
        back: bytes = b"",
        claimed: int | None = None,
        pause: float = 0,
        idle: float = 0,
        before_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self.before_answer = before_answer
        self.connections, self.back, self.pause, self.idle = connections, back, pause, idle
        self.claimed = len(back) * connections if claimed is None else claimed
        self.brought: list[bytes] = []
        self.segments: list[int] = []
        self.data = socket.create_server(("127.0.0.1", 0), backlog=64)
        # Less than `back`, so that the pause begins when the client has begun to read.
        self.data.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        super().__init__(self.data)

    def follow(self, peer: Wire) -> None:
        peer.welcome()
        while True:
            kind, fields = peer.receive()
            if kind == Wire.SETUP:
                peer.send(Wire.SETTINGS, ports=self.data.getsockname()[1])
            elif kind == Wire.CLOCK:
                peer.send(Wire.TIME_IS, now="0" * 16)
            elif kind == Wire.START:
                probe = float(fields["duration"]) == float(fields["count"]) == 0
                peer.send(Wire.READY)
                self._replicate(peer, 1 if probe else self.connections)
            else:
                return

    def _replicate(self, wire: Wire, count: int) -> None:
        self.brought, self.segments = [b""] * count, [0] * count
        threads = [threading.Thread(target=self._take, args=self._accept()) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wire.expect(Wire.END)
        received = sum(map(len, self.brought))
        windows = {f"window{i}": 65536 for i in range(count)}
        usage = {"elapsed": 1, "user_time": 0, "system_time": 0}
        back = {"reverse_messages": 1, "reverse_retransmits": 0, "reverse_sent": self.claimed}
        back["reverse_elapsed"] = 1
        names = ("omitted", "omitted_timed", "omitted_elapsed", "omitted_user_time")
        back |= dict.fromkeys(names, 0)
        wire.send(Wire.RESULT, received=received, timed=received - 1, **usage, **windows, **back)

    def _accept(self) -> tuple[socket.socket, int]:
        connection, _ = self.data.accept()
        connection.settimeout(PATIENCE)
        greeting = connection.recv(16, socket.MSG_WAITALL)
        self.before_answer()
        connection.sendall(greeting)
        return connection, int.from_bytes(greeting[8:], "big")

    def _take(self, connection: socket.socket, index: int) -> None:
        sender = threading.Thread(target=self._give, args=(connection,))
        sender.start()
        pieces = []
        time.sleep(self.idle)
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(1 << 20):
                pieces.append(piece)
        self.brought[index] = b"".join(pieces)
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        (self.segments[index],) = struct.unpack_from("I", info, DATA_SEGMENTS_IN)
        sender.join()
        connection.close()

    def _give(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self.back:
                connection.sendall(self.back[:-1])
                time.sleep(self.pause)
                connection.sendall(self.back[-1:])
                connection.shutdown(socket.SHUT_WR)
