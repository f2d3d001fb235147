"""rail-wire with raw sockets: frames are single and whole, and an ordinary user may."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import wire_lab
from tests.support.wire_lab import DEVICE, RIGHT, Lab

SOL_PACKET, PACKET_AUXDATA = 263, 8
IP, TCP = slice(14, 34), 6
# Both of these namespaces are the user's own.
_JOINED = """
mount -t tmpfs none /run && ip netns add a && ip netns add b &&
exec "$0" "$@" --left a/x --right b/x
"""


@pytest.fixture
def lab(folder: Path, require) -> Iterator[Lab]:
    yield from wire_lab.lab_fixture(folder, require, "packet")


def _sum(data: bytes) -> int:
    """Return the Internet check sum (RFC 1071) of what includes its own: 0 if that is right."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def test_what_is_sent_in_one_piece_comes_as_single_frames_with_their_check_sums(lab: Lab) -> None:
    """A write of 60,000 bytes to TCP, which kernels hand on undivided where they may."""
    with (
        lab.joined(),
        lab.raw(lab.right) as raw,
        lab.open_socket(lab.right, socket.AF_INET, socket.SOCK_STREAM) as listener,
        lab.open_socket(lab.left, socket.AF_INET, socket.SOCK_STREAM) as client,
    ):
        raw.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)  # SO_RCVBUFFORCE
        listener.bind((RIGHT, 0))
        listener.listen()
        client.connect(listener.getsockname())
        client.sendall(bytes(range(240)) * 250)
        # Each once: a connection that the relay kept waiting sends a segment again.
        payload: set[int] = set()
        while len(payload) < 60_000:
            frame, (_, _, kind, *_) = raw.recvfrom(70_000)
            if kind == socket.PACKET_OUTGOING or frame[12:14] != b"\x08\x00" or frame[23] != TCP:
                continue
            length = struct.unpack(">H", frame[16:18])[0]
            segment = frame[34 : 14 + length]
            assert len(frame) <= 1514
            assert _sum(frame[IP]) == 0
            assert _sum(frame[26:34] + struct.pack(">HH", TCP, len(segment)) + segment) == 0
            (first,) = struct.unpack(">L", segment[4:8])
            length = len(segment) - 4 * (segment[12] >> 4)
            payload.update(number % 2**32 for number in range(first, first + length))
    assert len(payload) == 60_000


def test_a_tag_comes_through_with_its_frame(lab: Lab) -> None:
    """The kernel takes it off both where the wire reads and where it arrives."""
    frame = bytes.fromhex("020000000001020000000002") + bytes.fromhex("81006005 88b5") + b"payload"
    with lab.joined(), lab.raw(lab.left) as a, lab.raw(lab.right) as b:
        b.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        a.send(frame)
        while True:
            came, ancillary, _, _ = b.recvmsg(2000, 200)
            if came[12:14] == b"\x88\xb5":
                break
    assert came == frame[:12] + frame[16:]
    (tag,) = (struct.unpack("=IIIHHHH", d) for level, _, d in ancillary if level == SOL_PACKET)
    assert tag[-2:] == (0x6005, 0x8100)


def test_a_frame_for_which_there_is_no_room_is_refused(lab: Lab) -> None:
    """Somebody gave the device a larger MTU than the wire has."""
    with lab.joined() as relay, lab.raw(lab.left) as a, lab.udp(lab.right) as b:
        wire_lab.ip(lab.left, "link", "set", DEVICE, "mtu", "9000")
        a.send(bytes(12) + b"\x88\xb5" + bytes(5000))
        counts = relay.wait_for(lambda c: c["left_to_right"]["refused"])["left_to_right"]
        b.setblocking(False)
        with pytest.raises(BlockingIOError):
            b.recv(1)
    assert counts["refused"] == 1


def test_the_relays_own_ends_send_nothing(lab: Lab) -> None:
    with lab.joined() as relay, lab.raw(lab.left) as a:
        a.send(bytes(12) + b"\x88\xb5" + bytes(100))
        relay.wait_for(lambda c: c["left_to_right"]["passed"])
        links = [json.loads(wire_lab.ip(name, "-j", "link")) for name in (lab.left, lab.right)]
        addresses = {link["address"].replace(":", "") for link in links[0] + links[1]}
        a.setblocking(False)
        senders = set()
        while True:
            try:
                frame, (_, _, kind, *_) = a.recvfrom(2000)
            except BlockingIOError:
                break
            senders |= {frame[6:12].hex()} if kind != socket.PACKET_OUTGOING else set()
    assert senders <= addresses


def test_it_takes_raw_sockets_where_tun_is_closed_to_an_ordinary_user(
    folder: Path, require
) -> None:
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    own = (*user, "unshare", "--user", "--map-root-user", "--net", "--mount")
    require(os.geteuid() == 0, "root, to become an ordinary user")
    require(subprocess.run([*own, "true"], cwd="/").returncode == 0, "user namespaces")
    # Whoever has it open may run it, whatever folder it is in.
    with (folder / "rail-wire").open("rb") as program:
        argv = [*own, "sh", "-c", _JOINED, f"/proc/self/fd/{program.fileno()}", "--json"]
        completed = subprocess.run(
            argv,
            cwd="/",
            pass_fds=[program.fileno()],
            input="",
            capture_output=True,
            text=True,
            timeout=30,
        )
    ready, counts = map(json.loads, completed.stdout.splitlines())
    tun = Path("/dev/net/tun")
    open_to_all = tun.exists() and tun.stat().st_mode & 0o006 == 0o006
    assert ready["kind"] == ("tap" if open_to_all else "packet")
    # What counts lines can't write where only root may.
    errors = [line for line in completed.stderr.splitlines() if "profiling:" not in line]
    assert (counts["event"], completed.returncode, errors) == ("counts", 0, [])
