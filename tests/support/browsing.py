"""What is shown in the browser, hostile names among it, and a tab that notices whatever happens."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import BrowserContext, Page
from tests.support import command_line

CHROMIUM = "/usr/bin/chromium"
SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
# What would run, end a table or turn the line around, if it weren't shown as text.
HOSTILE = (
    "<script>window.hostile=1;alert(1)</script>",
    '"><img src=x onerror="window.hostile=2">',
    "a</table>&amp;%_\\{{7*7}}' `x`",
)
PLAN = """\
railgauge: 1
name: night
description: "<script>window.hostile=3</script>"
hosts:
  here: {address: 127.0.0.1, transport: local}
links:
  loopback: {from: here, to: here}
tests:
  - name: stream
    engine: udp
    replications: 2
    set: {count: 100}
    grid: {datagram: [64, 1KiB, 1460, 4KiB, 8KiB, 16KiB, 32KiB], sockbuf: [100KiB, 1MiB]}
  - name: long
    engine: udp
    system_log: {interval: 100ms}
    set: {duration: 600ms, datagram: 1460}
    replications: 2
"""
SPEC = """\
railgauge_report: 1
name: browsed
title: "Links <script>window.hostile=4</script> & \\u202e more"
texts:
  - name: printed
    heading: As printed
    text: Of another page.
    grid: [[number], [a], [b], [c], [d], [e], [f], [g], [h], [i], [j], [k], [l], [m]]
tables:
  - name: links
    title: "By link <b onclick='x'>"
    select: {run: 1}
    rows: [datagram, link]
    columns: [sockbuf]
    cells: [{metric: throughput, statistic: median, unit: Mbit/s}]
  - name: few
    title: A few
    select: {run: 2, test: stream, sockbuf: 100KiB}
    rows: [datagram]
    cells: [{metric: throughput, statistic: median}, {metric: loss_rate, statistic: median}]
figures:
  - name: curve
    title: "Curve <i>"
    kind: lines
    select: {run: 2, test: stream}
    x: {axis: datagram}
    y: {metric: throughput, statistic: median}
"""
# Out of order, so that sorting shows; two cells are missing.
RATES = {512: (95.5, 9.25), 64: (9.0, 100.25), 4096: (None, 870.0), 1024: (1000.5, None)}


def railgauge(folder: Path, *arguments: str) -> None:
    completed = command_line.railgauge(*arguments, cwd=folder)
    assert completed.returncode == 0, completed.stderr


class Tab:
    """A browser's tab, and whatever its pages said, asked for or ran against the rules."""

    def __init__(self, context: BrowserContext, *, scripted: bool = True) -> None:
        self.scripted = scripted
        self.page: Page = context.new_page()
        self.urls: list[str] = []
        self.messages: list[str] = []
        self.page.on("request", lambda request: self.urls.append(request.url))
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: self._alarm(dialog.message))

    def _alarm(self, message: str) -> None:
        self.messages.append(f"dialog: {message}")

    def open(self, path: Path) -> Page:
        """Open the file, which must be silent and ask for nothing but itself and its data."""
        self.urls.clear()
        self.page.goto(path.as_uri(), wait_until="load")
        main = self.page.locator("main[data-top]")
        data = ""
        if main.count():
            data = (
                (path.parent / (main.get_attribute("data-top") or "") / "data").resolve().as_uri()
            )
            if self.scripted:
                self.page.wait_for_selector("main[data-drawn]", state="attached")
        assert self.urls[0] == path.as_uri()
        assert all(data and url.startswith(data) for url in self.urls[1:])
        return self.page

    def picture(self, name: str) -> None:
        """Keep what is seen for people to look at, in make test-long: whole pages take a while."""
        if not os.environ.get("RAILGAUGE_LONG"):
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
