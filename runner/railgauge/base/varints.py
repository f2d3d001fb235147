"""Numbers as traces have them: seven bits a byte, the lowest first; signed ones by zigzag.

docs/trace.md gives the format. Whatever is wrong is a TraceError.
"""

from __future__ import annotations

from railgauge.base.arrays import NDArray, np
from railgauge.base.errors import TraceError

VARINT_BYTES = 10
# Counts and times have to fit the signed 64 bits of arrays and databases.
_LARGEST = 2**63 - 1
# Bytes decoded at once: what is in between stays in the processor's cache.
_CHUNK = 1 << 18


def invalid(reason: str) -> TraceError:
    """Return what to raise, for `reason`."""
    return TraceError(
        f"a trace cannot be read: {reason}. Does the engine that wrote it belong to another "
        "version of railgauge, or is the database damaged?"
    )


def read_header(data: bytes, count: int, position: int = 4) -> tuple[list[int], int]:
    """Return `count` numbers from `position`, which the magic ends at, and where they end."""
    numbers = []
    for _ in range(count):
        end = position
        while data[end : end + 1] >= b"\x80" and end - position < VARINT_BYTES:
            end += 1
        if end >= len(data):
            raise _cut_off()
        groups = data[position : end + 1]
        number = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(groups))
        if len(groups) > VARINT_BYTES or number > _LARGEST:
            raise invalid(f"the number at byte {position} is too large")
        numbers.append(number)
        position = end + 1
    return numbers, position


def read_numbers(data: bytes, start: int, count: int) -> NDArray[np.uint64]:
    """Return exactly `count` varints, which fill `data` from `start` to its end."""
    if len(data) - start < count:
        raise _cut_off()
    raw = np.frombuffer(data, np.uint8, offset=start) if count else np.empty(0, np.uint8)
    values = np.empty(count, np.uint64)
    decoded = position = 0
    while decoded < count:
        piece = raw[position : position + _CHUNK]
        ends = np.flatnonzero(piece < 0x80)[: count - decoded]
        if not len(ends):
            raise _cut_off()
        values[decoded : decoded + len(ends)] = _decoded(piece, ends, start + position)
        decoded += len(ends)
        position += int(ends[-1]) + 1
    if start + position < len(data):
        raise invalid(f"{len(data) - start - position} bytes follow its end")
    return values


def _decoded(piece: NDArray[np.uint8], ends: NDArray[np.intp], offset: int) -> NDArray[np.uint64]:
    """Return the varints whose last bytes are at `ends`; `offset` is the piece's, for messages."""
    starts = np.concatenate((np.zeros(1, np.intp), ends[:-1] + 1))
    lengths = ends - starts + 1
    longest = int(lengths.max())
    values = (piece[starts] & 0x7F).astype(np.uint64)
    for place in range(1, min(longest, VARINT_BYTES)):
        longer = np.flatnonzero(lengths > place)
        groups = (piece[starts[longer] + place] & 0x7F).astype(np.uint64)
        if place == VARINT_BYTES - 1 and (groups > 1).any():
            longest = VARINT_BYTES + 1
        values[longer] |= groups << np.uint64(7 * place)
    if longest > VARINT_BYTES:
        where = offset + int(starts[int(lengths.argmax())])
        raise invalid(f"the number at byte {where} does not fit 64 bits")
    return values


def _cut_off() -> TraceError:
    return invalid("it is cut off")


def varints(values: NDArray[np.uint64]) -> bytes:
    """Return the bytes of `values`, one after another."""
    lengths = np.ones(len(values), np.intp)
    for place in range(1, VARINT_BYTES):
        lengths += values >= np.uint64(1 << (7 * place))
    ends = np.cumsum(lengths)
    starts = ends - lengths
    raw = np.empty(int(lengths.sum()), np.uint8)
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        groups = (values[longer] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F
        raw[starts[longer] + place] = groups | 0x80
    raw[ends - 1] &= 0x7F
    return raw.tobytes()


def signed(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the numbers, int64 (n,), of which `zigzag` made `values`."""
    lowest_bit = np.uint64(1)
    return (values >> lowest_bit).view(np.int64) ^ -(values & lowest_bit).view(np.int64)


def zigzag(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return numbers, uint64 (n,), that are small where the signed ones are near 0."""
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
