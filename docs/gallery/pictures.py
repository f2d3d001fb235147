"""Makes the README's pictures of a site and a report: `make pictures`, with Debian's chromium.

The site's thirty nights are drawn by a random generator; one link gets slower in the last ones. The
report is of the gallery's database.
"""

import csv
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

from docs.gallery.make import HERE, load
from playwright.sync_api import sync_playwright
from tests.support.browsing import CHROMIUM, railgauge

HOSTS = """\
hosts:
  n[1-8]: {address: "10.1.0.[1-8]", ssh: "n[1-8]"}
links:
  fabric: {all-pairs: "n[1-8]"}
"""
# Of each plan: engine, mode, metric, its level, and what of it the slow link's last nights have.
PLANS = {
    "fabric": ("tcp", "stream", "throughput=value:Gbit/s", 9.4, 0.8),
    "round-trip": ("udp", "latency", "rtt_p50=value:us", 14.0, 1.0),
}


def nights(level: float, slow: float) -> Iterator[tuple[str, str, float]]:
    """Yield time, link and value of six replications of each night and link."""
    draw = random.Random(level)  # noqa: S311
    for night in range(30):
        began = datetime(2026, 1, 1, 2, tzinfo=UTC) + timedelta(days=night)
        for client, server in permutations([f"n{number}" for number in range(1, 9)], 2):
            link = f"{client}→{server}"
            night_level = level * (slow if link == "n2→n6" and night > 26 else 1)
            for second in range(6):
                value = night_level * (1 + 0.004 * draw.gauss(0, 1))
                yield (began + timedelta(seconds=second)).isoformat(), link, value


def store_nights(folder: Path) -> None:
    """Import the nights of each plan; the first five are its baseline."""
    (folder / "hosts.yaml").write_text(HOSTS, encoding="utf-8")
    for number, (plan, (engine, mode, metric, level, slow)) in enumerate(PLANS.items()):
        with (folder / f"{plan}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("at", "link", "value"), *nights(level, slow)])
        columns = ["--link", "link", "--started-at", "at", "--metric", metric]
        options = ["--engine", engine, "--set", f"mode={mode}", "--hosts", "hosts.yaml", *columns]
        railgauge(folder, "import", "csv", *options, f"{plan}.csv")
        first = range(30 * number + 1, 30 * number + 6)
        railgauge(folder, "baseline", "set", plan, *map(str, first))


def main() -> None:
    """Write the pictures beside this file."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        store_nights(folder)
        railgauge(folder, "site", "--out", "site")
        load(folder / "gallery.db")
        definition = str(HERE / "sharcnet-compared.yaml")
        railgauge(
            folder,
            "report",
            "--db",
            "gallery.db",
            "--spec",
            definition,
            "--out",
            "report",
            "11",
            "12",
        )
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        shown = (("site", "h1", 660), ("report", "h2:has-text('its window')", 1160))
        for picture, top, height in shown:
            page.set_viewport_size({"width": 800, "height": height})
            page.goto((folder / picture / "index.html").as_uri())
            page.locator(top).evaluate("top => scrollTo(0, top.getBoundingClientRect().top - 20)")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=HERE / f"{picture}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
