"""SHA-256 and HMAC, which the control channel is sealed with, against published vectors."""

from __future__ import annotations

import hashlib
import hmac

# FIPS 180-4's examples (NIST): message, digest.
DIGESTS = [
    (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (b"a" * 10**6, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
]
# RFC 4231, section 4: key, message, HMAC-SHA-256; the fifth is published cut to 128 bits.
LARGER = b"This is a test using a larger than block-size key and a larger than block-size data. "
LARGER += b"The key needs to be hashed before being used by the HMAC algorithm."
CODES = [
    (
        b"\x0b" * 20,
        b"Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
    (b"\x0c" * 20, b"Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (b"\xaa" * 131, LARGER, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
]


def test_the_published_digests_and_codes_come_out(probe) -> None:
    lines = [f"- {message.hex()}" for message, _ in DIGESTS]
    lines += [f"{key.hex()} {message.hex()}" for key, message, _ in CODES]
    answers = probe("sha256_probe", "".join(f"{line}\n" for line in lines)).split()
    published = [digest for *_, digest in (*DIGESTS, *CODES)]
    assert [
        answer[: len(is_to)] for answer, is_to in zip(answers, published, strict=True)
    ] == published


def test_every_length_is_padded_rightly(probe) -> None:
    """Around the sizes of one and two blocks, of keys as of messages."""
    lengths = range(1, 140)
    text = "".join(f"- {'5a' * n}\n{'5a' * n} {'a5' * n}\n" for n in lengths)
    expected = []
    for n in lengths:
        expected.append(hashlib.sha256(b"\x5a" * n).hexdigest())
        expected.append(hmac.new(b"\x5a" * n, b"\xa5" * n, "sha256").hexdigest())
    assert probe("sha256_probe", text).split() == expected


def test_digests_that_differ_in_one_bit_are_different(probe) -> None:
    digest = bytes.fromhex(DIGESTS[1][1])
    candidates = [digest] + [
        bytes(byte ^ (0x80 >> i % 8) * (place == i) for place, byte in enumerate(digest))
        for i in range(len(digest))
    ]
    output = probe(
        "sha256_probe", "".join(f"= {(digest + candidate).hex()}\n" for candidate in candidates)
    )
    assert output.split() == ["equal"] + ["different"] * len(digest)
