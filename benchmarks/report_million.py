"""How long reading a million stored measurements takes, in the shapes that a site's runs have."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from million import build

from railgauge.store import Store

# cases, replications of each, metrics of each replication
SHAPES = ((5_000, 10, 20), (1_000, 1_000, 1), (10_000, 100, 1), (100_000, 10, 1))
ASKED = "throughput"


def main() -> None:
    print(
        f"{'cases':>8} {'repl.':>6} {'metrics':>8} {'series':>8} {'open s':>8} {'series() s':>11}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for number, (cases, replications, metrics) in enumerate(SHAPES):
            path = Path(folder, f"{number}.db")
            run = build(path, cases=cases, replications=replications, metrics=metrics)
            began = time.perf_counter()
            with Store.open(str(path), create=False) as store:
                opened = time.perf_counter()
                series = store.series([run], [ASKED])
                ended = time.perf_counter()
            values = sum(len(each.values) for each in series)
            if values != cases * replications:
                sys.exit(f"{values} values came back, not {cases * replications}")
            print(
                f"{cases:>8} {replications:>6} {metrics:>8} {len(series):>8} "
                f"{opened - began:>8.3f} {ended - opened:>11.3f}"
            )


if __name__ == "__main__":
    main()
