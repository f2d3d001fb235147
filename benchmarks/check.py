"""How long `railgauge check` takes on a plan of many cases, start of Python included.

python -m benchmarks.check [--cases 50000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAN = """\
railgauge: 1
name: large
hosts:
  here: {{address: 127.0.0.1, transport: local}}
links:
  loop: {{from: here, to: here}}
tests:
  - name: sweep
    engine: udp
    set: {{duration: 0.1s}}
    grid:
      datagram: [{datagrams}]
      sockbuf: [{sockbufs}]
    replications: 10
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000, help="a hundred at least")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    sizes = arguments.cases // 100
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "large.yaml"
        plan.write_text(
            PLAN.format(
                datagrams=", ".join(str(size) for size in range(100, 100 + sizes)),
                sockbufs=", ".join(f"{size}KiB" for size in range(10, 110)),
            )
        )
        seconds = []
        for _ in range(arguments.repeats):
            began = time.perf_counter()
            command = [sys.executable, "-m", "railgauge", "check", str(plan)]
            completed = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds.append(time.perf_counter() - began)
    assert f"{sizes * 100:,} cases" in completed.stdout, completed.stdout
    print(f"check of {sizes * 100:,} cases: median {statistics.median(seconds):.2f} s", end="")
    print(f" (min {min(seconds):.2f}, max {max(seconds):.2f}, n {len(seconds)})")


if __name__ == "__main__":
    main()
