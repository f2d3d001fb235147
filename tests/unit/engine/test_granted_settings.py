"""What was asked of the kernel, and what of it was granted."""

from __future__ import annotations

import re

import pytest
from tests.support import ROOT

from railgauge.engine.granted_settings import NAMES, TEXTS, asks, unlike_asked, unlike_words
from railgauge.plan.cases import Value


def _words(
    parameters: dict[str, Value],
    client: dict[str, Value],
    server: dict[str, Value] | None = None,
    *,
    imported: bool = False,
) -> str:
    sides = (("client", client), ("server", server or {}))
    return unlike_words(
        unlike
        for side, granted in sides
        for unlike in unlike_asked(parameters, side, granted, imported=imported)
    )


def test_a_buffer_is_as_asked_when_linux_doubles_it_and_not_when_it_was_clamped() -> None:
    sizes: dict[str, Value] = {"sockbuf": 512000}
    assert _words(sizes, {"rcvbuf": 1024000, "sndbuf": 1024000}) == ""
    clamped: dict[str, Value] = {"rcvbuf": 425984}
    assert _words(sizes, clamped) == "rcvbuf at the client: asked 500KiB, got 208KiB"
    # What the limit allows, doubled, is what was asked: it is still half of that.
    assert _words({"sockbuf": 425984}, clamped) == "rcvbuf at the client: asked 416KiB, got 208KiB"
    message = _words(sizes, {**clamped, "sndbuf": 425984}, {**clamped, "sndbuf": 1024000})
    assert message == ("sndbuf at the client and rcvbuf at both ends: asked 500KiB, got 208KiB")


def test_the_kernels_least_is_more_than_was_asked() -> None:
    assert _words({"sockbuf": 1000}, {"rcvbuf": 2304}) == (
        "rcvbuf at the client: asked 1000 B, got 1152 B"
    )


def test_a_servers_own_buffer_is_what_it_asked_for() -> None:
    sizes: dict[str, Value] = {"sockbuf": 65536, "server_sockbuf": 131072}
    assert _words(sizes, {"rcvbuf": 131072}, {"rcvbuf": 262144}) == ""
    assert _words(sizes, {}, {"rcvbuf": 131072}) == "rcvbuf at the server: asked 128KiB, got 64KiB"


def test_an_imported_buffer_may_be_doubled_or_not() -> None:
    for granted in (65536, 131072):
        assert _words({"sockbuf": 65536}, {"rcvbuf": granted}, imported=True) == ""
    assert _words({"sockbuf": 65536}, {"rcvbuf": 8192}, imported=True)


@pytest.mark.parametrize(
    ("parameters", "granted", "words"),
    [
        ({"sockbuf": 0}, {"rcvbuf": 212992}, ""),
        ({"mss": 1460}, {"mss": 1460}, ""),
        # Time stamps take 12 bytes of each segment.
        ({"mss": 1460}, {"mss": 1448}, ""),
        ({"mss": 1460}, {"mss": 988}, "mss at the client: asked 1460, got 988"),
        ({"tos": 16}, {"tos": 16}, ""),
        ({"tos": 17}, {"tos": 16}, "tos at the client: asked 17, got 16"),
        ({"tos": 16}, {}, ""),
        ({"busy_poll": 5e-05}, {"busy_poll": 5e-05}, ""),
        ({"busy_poll": 5e-05}, {"busy_poll": 0}, "busy_poll at the client: asked 50us, got 0s"),
        ({"congestion": "system"}, {"congestion": "bbr"}, ""),
        ({"congestion": "bbr"}, {"congestion": "bbr"}, ""),
        (
            {"congestion": "bbr"},
            {"congestion": "cubic"},
            "congestion at the client: asked bbr, got cubic",
        ),
    ],
)
def test_other_settings(
    parameters: dict[str, Value], granted: dict[str, Value], words: str
) -> None:
    assert _words(parameters, granted) == words


def test_only_what_asks_for_something_can_be_refused() -> None:
    assert not asks({"mode": "stream", "sockbuf": 0, "mss": 0})
    assert asks({"server_sockbuf": 1})


def test_every_setting_that_an_engine_of_ours_tells_is_known() -> None:
    added = re.compile(r'fields_add(_number)?\(&?settings, "(\w+)"')
    names = {
        name: kind
        for path in (ROOT / "engines").rglob("*.c")
        for kind, name in added.findall(path.read_text(encoding="utf-8"))
    }
    assert len(names) > 30
    assert names.keys() - {"warning"} <= set(NAMES)
    assert [name for name, kind in names.items() if kind and name in TEXTS] == []


def test_the_page_on_the_database_names_every_setting() -> None:
    page = (ROOT / "docs" / "database.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in page] == []
