"""A server of round trips in plain Python: it counts, delays and loses what a test tells it to."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from tests.support.control_server import ControlServer
from tests.support.wire import Wire

GREETING = 16  # what a TCP data connection begins with
# Takes the number of a message on its stream, from 0, and the message; returns what goes back, in
# this order; each with the seconds to wait before it.
Answer = Callable[[int, bytes], list[tuple[float, bytes]]]


def at_once(_: int, message: bytes) -> list[tuple[float, bytes]]:
    return [(0, message)]


class EchoPeer(ControlServer):
    """One client's server of one replication, on so many streams; a stream's first message is not
    timed, and answered at once.

    received: how many messages came on each stream; clients: the ports that they came from.
    """

    def __init__(
        self, engine: str, answer: Answer = at_once, *, size: int = 64, streams: int = 1
    ) -> None:
        self.engine, self.answer, self.size, self.streams = engine, answer, size, streams
        self.received = [0] * streams
        self.clients: set[int] = set()
        if engine == "udp":
            super().__init__(*(socket.socket(type=socket.SOCK_DGRAM) for _ in range(streams)))
            for sock in self.sockets:
                sock.bind(("127.0.0.1", 0))
        else:
            super().__init__(socket.create_server(("127.0.0.1", 0)))

    def follow(self, peer: Wire) -> None:
        peer.welcome()
        peer.expect(Wire.SETUP)
        peer.send(Wire.SETTINGS, ports=",".join(str(s.getsockname()[1]) for s in self.sockets))
        while (request := peer.receive())[0] != Wire.BYE:
            if request[0] == Wire.CLOCK:
                peer.send(Wire.TIME_IS, now="0" * 16)
            elif request[0] == Wire.START:
                peer.send(Wire.READY)
                self._replicate(float(request[1]["duration"]) + float(request[1]["count"]) == 0)
            else:
                assert request[0] == Wire.END
                echoed = sum(self.received)
                peer.send(Wire.RESULT, elapsed=1, user_time=0, system_time=0, echoed=echoed)

    def _replicate(self, probe: bool) -> None:
        self.received = [0] * self.streams
        if self.engine == "udp":
            for number, sock in enumerate(self.sockets):
                self._start(self._echo_datagrams, number, sock)
        elif probe:
            self._accept()[1].close()
        else:
            for _ in range(self.streams):
                self._start(self._echo_messages, *self._accept())

    def _start(
        self, work: Callable[[int, socket.socket], None], number: int, stream: socket.socket
    ) -> None:
        threading.Thread(target=work, args=(number, stream), daemon=True).start()

    def _accept(self) -> tuple[int, socket.socket]:
        connection, _ = self.sockets[0].accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        greeting = connection.recv(GREETING, socket.MSG_WAITALL)
        connection.sendall(greeting)
        return int.from_bytes(greeting[8:], "big"), connection

    def _answer(self, number: int, message: bytes) -> list[tuple[float, bytes]]:
        timed = self.received[number] - 2
        return at_once(0, message) if timed < 0 else self.answer(timed, message)

    def _echo_datagrams(self, number: int, stream: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                message, client = stream.recvfrom(65536)
                self.clients.add(client[1])
                self.received[number] += 1  # before the client can be through
                for wait, back in self._answer(number, message):
                    time.sleep(wait)
                    stream.sendto(back, client)

    def _echo_messages(self, number: int, stream: socket.socket) -> None:
        self.clients.add(stream.getpeername()[1])
        with stream:
            while message := stream.recv(self.size, socket.MSG_WAITALL):
                self.received[number] += 1
                for wait, back in self._answer(number, message):
                    time.sleep(wait)
                    stream.sendall(back)
