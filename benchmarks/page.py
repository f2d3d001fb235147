"""How long a browser takes to open a report of 10,000 cases, and then to sort and to filter it.

For each shape of the page: its size in MB; seconds until it is loaded and drawn, until its rows
are sorted by a number and drawn, and until a filter has left one row in a hundred; medians. Needs
Debian's chromium.

    python -m benchmarks.page [--cases 10000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.machine import need
from benchmarks.million import build

CHROMIUM = "/usr/bin/chromium"
SPEC = """\
railgauge_report: 1
name: page
title: Many cases
tables:
  - name: stream
    title: Throughput
    rows: {rows}
    columns: {columns}
    cells:
      - {{metric: throughput, statistic: median, unit: Mbit/s}}
"""
SHAPES = {
    "a case a row": SPEC.format(rows="[link, datagram, sockbuf]", columns="[]"),
    "a hundred columns": SPEC.format(rows="[link, datagram]", columns="[sockbuf]"),
    "without --spec": "",
}
# Two frames later all is drawn.
DRAWN = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
SORT = f"""async () => {{
  const began = performance.now();
  [...document.querySelectorAll("table")[0].tHead.querySelectorAll("button")].at(-1).click();
  {DRAWN}
  return (performance.now() - began) / 1000;
}}"""
FILTER = f"""async () => {{
  const box = document.querySelector("input");
  const began = performance.now();
  if (box) {{
    box.value = "12";
    box.dispatchEvent(new Event("input"));
    {DRAWN}
  }}
  return (performance.now() - began) / 1000;
}}"""
OPENED = f"async () => {{ {DRAWN} return performance.now() / 1000; }}"


def measure(browser: Browser, path: Path) -> tuple[float, float, float]:
    context = browser.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    page.goto(path.as_uri(), wait_until="load", timeout=120_000)
    seconds = page.evaluate(OPENED), page.evaluate(SORT), page.evaluate(FILTER)
    context.close()
    return seconds


def make(folder: Path, database: Path, spec: str) -> Path:
    command = [sys.executable, "-m", "railgauge", "report", "--db", str(database)]
    if spec:
        (folder / "spec.yaml").write_text(spec)
        command += ["--spec", str(folder / "spec.yaml")]
    subprocess.run([*command, "--out", str(folder / "out")], check=True, stdout=subprocess.DEVNULL)
    return folder / "out" / "index.html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    need(shutil.which(CHROMIUM), f"{CHROMIUM} (Debian: chromium)")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    print(f"{'page':<20} {'MB':>6} {'open s':>7} {'sort s':>7} {'filter s':>9}")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        build(folder / "page.db", cases=arguments.cases, replications=7, metrics=1)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        for shape, spec in SHAPES.items():
            path = make(folder, folder / "page.db", spec)
            trials = [measure(browser, path) for _ in range(arguments.repeats)]
            opened, ordered, filtered = (
                statistics.median(times) for times in zip(*trials, strict=True)
            )
            size = path.stat().st_size / 1e6
            print(
                f"{shape:<20} {size:>6.2f} {opened:>7.2f} {ordered:>7.2f} {filtered:>9.2f}",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
