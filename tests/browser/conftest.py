"""Pages made by the real command line from a small database, opened in a real chromium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.support.browsing import CHROMIUM, HOSTILE, PLAN, RATES, SPEC, Tab, railgauge

# In ms: a machine that stalls takes longer than Playwright waits by itself.
LAUNCH_TIMEOUT, ACTION_TIMEOUT, EXPECT_TIMEOUT = 180_000, 120_000, 60_000
expect.set_options(timeout=EXPECT_TIMEOUT)


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with night.db: an imported run of hostile links, and two runs of this machine."""
    folder = tmp_path_factory.mktemp("browsed")
    lines = ["link,datagram,sockbuf,mbps"]
    for link in ("plain", "n10", "n9", *HOSTILE):
        quoted = '"' + link.replace('"', '""') + '"'
        for datagram, rates in RATES.items():
            for sockbuf, rate in zip((10240, 102400), rates, strict=True):
                lines.append(f"{quoted},{datagram},{sockbuf},{'' if rate is None else rate}")
    (folder / "links.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "night.yaml").write_text(PLAN)
    (folder / "browsed.yaml").write_text(SPEC)
    columns = ["--metric", "throughput=mbps:Mbit/s", "--link", "link", "--set", "mode=stream"]
    for name in ("datagram", "sockbuf"):
        columns += ["--parameter", f"{name}={name}:B"]
    railgauge(folder, "import", "csv", "--db", "night.db", "--engine", "udp", *columns, "links.csv")
    for _ in range(2):
        railgauge(folder, "run", "--db", "night.db", "--wait", "60s", "night.yaml")
    return folder


@pytest.fixture(scope="session")
def report(measured: Path) -> Path:
    """The folder of a report over both runs."""
    arguments = ("--spec", "browsed.yaml", "--out", "report", "1", "2")
    railgauge(measured, "report", "--db", "night.db", *arguments)
    return measured / "report"


@pytest.fixture(scope="session")
def site(measured: Path) -> Path:
    """The folder of the site of all runs."""
    railgauge(measured, "site", "--db", "night.db", "--out", "site")
    return measured / "site"


# Not for the session: while Playwright is there, nothing else may run an event loop.
@pytest.fixture(scope="module")
def chromium(require: Callable[[object, str], None]) -> Iterator[Browser]:
    """The system's chromium; each of its pages has a profile of its own, gone with it."""
    require(shutil.which(CHROMIUM), f"chromium at {CHROMIUM}")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=flags, timeout=LAUNCH_TIMEOUT
        )
        yield browser
        browser.close()


def _open_tab(chromium: Browser, **options: object) -> Tab:
    sized = {"viewport": {"width": 1300, "height": 1000}, **options}
    context = chromium.new_context(**sized)  # type: ignore[arg-type]
    context.set_default_timeout(ACTION_TIMEOUT)
    return Tab(context, scripted=bool(sized.get("java_script_enabled", True)))


@pytest.fixture(scope="module")
def readers(chromium: Browser) -> dict[str, Tab]:
    """The tabs of `reader`, by their options; closed with the browser."""
    return {}


@pytest.fixture
def reader(chromium: Browser, readers: dict[str, Tab]) -> Iterator[Callable[..., Tab]]:
    """Give a tab in light colours: the same one to all tests that ask for its options.

    A new one takes twice the CPU time of a page. Afterwards none may have complained.
    """

    def share(**options: object) -> Tab:
        name = repr(options)
        if name not in readers:
            readers[name] = _open_tab(chromium, **options)
        page = readers[name].page
        page.mouse.move(0, 0)
        page.emulate_media(color_scheme="light")
        return readers[name]

    yield share
    complaints = [line for tab in readers.values() for line in tab.messages]
    for tab in readers.values():
        tab.messages.clear()
    assert complaints == []


@pytest.fixture
def tab(reader: Callable[..., Tab]) -> Tab:
    """The tab of those who ask for no options."""
    return reader()
