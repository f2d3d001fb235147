"""Change points: how often none is one, how well one is dated, and how long a history takes.

By simulation: the share of series without a change that have a point, for 10, 60, 120 and 365
nights of many kinds; the share of changes of 5 % (and 3 %) in 60 nights of 2 % noise that are dated
within two nights, of falls in nights 15 to 44 of 60, of 1 % noise, of which both ends are, and of
three to six levels of any length. Then
the times of `change_points` over 1,000 nights, of `railgauge history CASE` over a database of 1,000
nights of 100 cases of 10 replications, and of `railgauge history --all` over the last 100 of them.

With --nightly instead, of series that are looked at after each of 365 nights: how many of those
without a change ever have a point, how many nights a step of 5 % takes, and how much of a fall that
was mended is in the history of 60 nights.

    python -m benchmarks.history [--series 2000] [--nights 1000] [--cases 100] [--repeats 5]
        [--only simulation] [--nightly 400] [--no-limits]
"""

from __future__ import annotations

import argparse
import hashlib
import math
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railgauge.compare.case_history import LEAST_NIGHTS, NIGHTS
from railgauge.plan.cases import Case, case_key
from railgauge.stats.change_points import ChangePoint, change_points
from railgauge.store import Store
from railgauge.store.records import MetricInfo, NewRun, PlannedCase

Values = NDArray[np.float64]
NOISE = 0.02
REPLICATIONS = 10
# What is measured is held against these, in % and s.
MOST_FALSE, LEAST_DATED, LEAST_MENDED, MOST_SECONDS, MOST_POINTS_SECONDS = 5.0, 95.0, 94.0, 1.0, 0.2
# A year of nightly looks, by so many processes: at most so many false alarms (%), and nights until
# a step of 5 % in 1 % of noise is confirmed.
YEAR, PROCESSES, MOST_FALSE_A_YEAR, MOST_DELAY = 365, 2, 5.0, 4.0


def normal(random: np.random.Generator, n: int) -> Values:
    return random.standard_normal(n)


def exponential(random: np.random.Generator, n: int) -> Values:
    return random.exponential(1, n)


def log_normal(random: np.random.Generator, n: int) -> Values:
    return random.lognormal(0, 1, n) / 2.16


def heavy_tails(random: np.random.Generator, n: int) -> Values:
    return random.standard_t(3, n) / math.sqrt(3)


def two_modes(random: np.random.Generator, n: int) -> Values:
    return 0.5 * random.standard_normal(n) + 2.5 * (random.random(n) < 0.3)


def outliers(random: np.random.Generator, n: int) -> Values:
    """Three of a hundred nights are 10 to 40 % slower."""
    values = random.standard_normal(n)
    struck = random.random(n) < 0.03
    values[struck] -= random.uniform(5, 25, int(struck.sum()))
    return values


def two_nights_out(random: np.random.Generator, n: int) -> Values:
    """Once in a hundred nights, that one and the next are a quarter slower."""
    values = random.standard_normal(n)
    for first in np.flatnonzero(random.random(n) < 0.01).tolist():
        values[first : first + 2] -= 15
    return values


def dependent(share: float) -> Callable[[np.random.Generator, int], Values]:
    def draw(random: np.random.Generator, n: int) -> Values:
        values = random.standard_normal(n)
        for i in range(1, n):
            values[i] = share * values[i - 1] + math.sqrt(1 - share**2) * values[i]
        return values

    return draw


# Those the limit is promised for come first.
DRAWS = {
    "normal": normal,
    "skewed (exponential)": exponential,
    "outlier nights": outliers,
    "dependent, 0.3": dependent(0.3),
    "skewed (log-normal, sigma 1)": log_normal,
    "heavy tails (t, 3)": heavy_tails,
    "two modes, 70:30": two_modes,
    "two nights out": two_nights_out,
    "dependent, 0.5": dependent(0.5),
}
PROMISED = 4
YEARLY = (*list(DRAWS)[: PROMISED + 1], "two nights out")
FALLS = (0.03, 0.08, 0.15, 0.2, 0.3, 0.5)
LEVEL_NOISES = (0.005, 0.01, 0.02)


def simulate(series: int) -> bool:
    good = True
    lengths = (10, 60, 120, 365)
    print(f"series of which a point was found though nothing changed, in % ({series} each)")
    print(f"{'nights':32}" + "".join(f"{n:>8}" for n in lengths))
    for place, (name, draw) in enumerate(DRAWS.items()):
        shares = []
        for n in lengths:
            random = np.random.default_rng([1, n])
            point_lists = (change_points(np.exp(NOISE * draw(random, n))) for _ in range(series))
            shares.append(100 * sum(map(bool, point_lists)) / series)
        good &= place >= PROMISED or max(shares) <= MOST_FALSE
        print(f"{name:32}" + "".join(f"{share:8.1f}" for share in shares), flush=True)
    print("\nchanges in 60 nights of 2 % noise, dated within two nights, in %")
    columns = (("5 %, night 10-50", 0.05, 10, 51), ("5 %, night 5 or 55", 0.05, 5, 6))
    columns += (("3 %, night 20-40", 0.03, 20, 41),)
    print(f"{'nights':32}" + "".join(f"{name:>20}" for name, *_ in columns))
    for name, draw in DRAWS.items():
        shares = [dated(draw, size, (low, high), series) for _, size, low, high in columns]
        good &= name != "normal" or shares[0] >= LEAST_DATED
        print(f"{name:32}" + "".join(f"{share:20.1f}" for share in shares), flush=True)
    print("\nfalls in nights 15 to 44 of 60, of 1 % noise: both ends dated within two nights, in %")
    print(f"{'nights':32}" + "".join(f"{fall:>8.0%}" for fall in FALLS))
    for name, draw in DRAWS.items():
        shares = [mended(draw, fall, series) for fall in FALLS]
        good &= name != "normal" or min(shares) >= LEAST_MENDED
        print(f"{name:32}" + "".join(f"{share:8.1f}" for share in shares), flush=True)
    simulate_short_falls(series)
    return good & simulate_levels(series)


def simulate_levels(series: int) -> bool:
    good = True
    print(
        "\nthree to six levels of 3 to 20 nights, 5 to 30 % apart: changes dated within two nights,"
    )
    print("series with a point elsewhere, and without any point, in %")
    print(f"{'normal noise':32}{'dated':>10}{'elsewhere':>10}{'none':>10}")
    for noise in LEVEL_NOISES:
        dated_share, elsewhere, none = levels_found(noise, series)
        good &= noise > NOISE / 2 or dated_share >= LEAST_DATED
        print(f"{noise:<32.1%}{dated_share:10.1f}{elsewhere:10.1f}{none:10.1f}", flush=True)
    return good


def levels_found(noise: float, series: int) -> tuple[float, float, float]:
    random = np.random.default_rng(3)
    changes = near_changes = elsewhere = none = 0
    for _ in range(series):
        lengths = random.integers(3, 21, size=int(random.integers(3, 7)))
        steps = random.choice([-1, 1], len(lengths)) * random.uniform(0.05, 0.3, len(lengths))
        levels = np.repeat(np.cumprod(1 + steps), lengths)
        points = change_points(levels * np.exp(noise * normal(random, len(levels))))
        expected = np.cumsum(lengths)[:-1].tolist()
        changes += len(expected)
        near_changes += sum(bool(near(points, place, 2)) for place in expected)
        stray = [p for p in points if all(abs(p.index - place) > 2 for place in expected)]
        elsewhere += bool(stray)
        none += not points
    return 100 * near_changes / changes, 100 * elsewhere / series, 100 * none / series


def dated(
    draw: Callable[[np.random.Generator, int], Values],
    size: float,
    places: tuple[int, int],
    series: int,
) -> float:
    random = np.random.default_rng(2)
    near = 0
    for number in range(series):
        place = int(random.integers(*places))
        values = np.exp(NOISE * draw(random, 60))
        values[place:] *= 1 + size if number % 2 else 1 - size
        if number % 4 > 1:
            values, place = values[::-1], 60 - place
        near += any(abs(point.index - place) <= 2 for point in change_points(values))
    return 100 * near / series


def mended(draw: Callable[[np.random.Generator, int], Values], fall: float, series: int) -> float:
    random = np.random.default_rng(5)
    near = 0
    for _ in range(series):
        values = np.exp(NOISE / 2 * draw(random, 60))
        values[14:44] *= 1 - fall
        points = [point.index for point in change_points(values)]
        near += all(any(abs(point - place) <= 2 for point in points) for place in (14, 44))
    return 100 * near / series


class FlatYear(NamedTuple):
    """A series without a change; of its nights, each look reads the last so many."""

    name: str
    noise: float
    most: int
    number: int


def simulate_nightly(series: int) -> bool:
    good = True
    print(f"series of {YEAR} nights without a change, looked at after each: of which a point was")
    print(f"ever confirmed (and: or provisional), in % ({series} each)")
    print(f"{'nights':32}{'noise':>6}{f'last {NIGHTS}':>18}{'all nights':>18}")
    with ProcessPoolExecutor(PROCESSES) as pool:
        for noise in (NOISE, NOISE / 2):
            for place, name in enumerate(YEARLY):
                print(f"{name:32}{noise:6.0%}", end="", flush=True)
                for most in (NIGHTS, YEAR):
                    years = [FlatYear(name, noise, most, number) for number in range(series)]
                    outcomes = list(pool.map(alarms, years, chunksize=5))
                    any_point, confirmed = (100 * np.mean(outcomes, axis=0)).tolist()
                    good &= place >= PROMISED or confirmed <= MOST_FALSE_A_YEAR
                    print(f"{f'{confirmed:.1f} ({any_point:.1f})':>18}", end="", flush=True)
                print()
    print(f"limit of the first {PROMISED}: {MOST_FALSE_A_YEAR} % confirmed")
    good &= simulate_delays(series)
    simulate_stays(series)
    return good


def alarms(year: FlatYear) -> tuple[bool, bool]:
    """Return whether a look ever has a point, and a confirmed one, which is the last look."""
    random = np.random.default_rng([7, year.number])
    values = 1 + year.noise * DRAWS[year.name](random, YEAR)
    any_point = False
    for night in range(LEAST_NIGHTS, YEAR + 1):
        points = change_points(values[max(0, night - year.most) : night])
        any_point |= bool(points)
        if not all(point.provisional for point in points):
            return True, True
    return any_point, False


def simulate_delays(series: int) -> bool:
    print("\nnights until a step in 1 % of normal noise is found, and is confirmed: median (and")
    print("90th percentile), by the nights before it, of which the last hundred are read")
    good = True
    for step in (0.05, 0.2):
        print(f"{step:<8.0%}{'found':>12}{'confirmed':>12}")
        for before in (10, 20, 30, 60, NIGHTS):
            nights = np.array([delays(step, before, number) for number in range(series)])
            median, ninety = np.quantile(nights, (0.5, 0.9), axis=0, method="higher")
            columns = (f"{f'{median[i]:.0f} ({ninety[i]:.0f})':>12}" for i in (0, 1))
            print(f"{before:8}" + "".join(columns), flush=True)
        good &= bool(median[1] <= MOST_DELAY)
    print(f"limit after {NIGHTS} nights: {MOST_DELAY:.0f} until confirmed (median)")
    return good


def delays(step: float, before: int, number: int) -> tuple[float, float]:
    """Return on which night of the new level it is found, and confirmed: inf if not in 60."""
    random = np.random.default_rng([8, before, number])
    values = 1 + NOISE / 2 * normal(random, before + 60)
    values[before:] *= 1 + step if number % 2 else 1 - step
    first_night = math.inf
    for night in range(1, 61):
        look = values[max(0, before + night - NIGHTS) : before + night]
        for point in near(change_points(look), len(look) - night, 2):
            first_night = min(first_night, night)
            if not point.provisional:
                return first_night, night
    return first_night, math.inf


def near(points: Sequence[ChangePoint], place: int, nights: int) -> list[ChangePoint]:
    return [point for point in points if abs(point.index - place) <= nights]


def simulate_short_falls(series: int) -> None:
    lengths = (12, 20, 30, 45, 60, 200)
    print("\nfalls of a few nights that were mended, 1 % of normal noise: both ends dated within a")
    print("night, in %")
    print(f"{'nights':20}" + "".join(f"{n:>8}" for n in lengths))
    for fall, nights in ((0.5, 3), (0.2, 3), (0.1, 5), (0.05, 7)):
        shares = [short_fall(fall, nights, n, series) for n in lengths]
        name = f"{fall:.0%}, {nights} nights"
        print(f"{name:20}" + "".join(f"{share:8.1f}" for share in shares), flush=True)


def short_fall(fall: float, nights: int, n: int, series: int) -> float:
    if n < nights + LEAST_NIGHTS:
        return math.nan
    random = np.random.default_rng([11, n, nights])
    count = 0
    for _ in range(series):
        values = 1 + NOISE / 2 * normal(random, n)
        first = int(random.integers(3, n - nights - 2))
        values[first : first + nights] *= 1 - fall
        points = change_points(values)
        count += bool(near(points, first, 1) and near(points, first + nights, 1))
    return 100 * count / series


def simulate_stays(series: int) -> None:
    print(
        "\nfalls that were mended, looked at each night, in 60 nights of 1 % of normal noise, in %"
    )
    columns = ("found at once", "of these later", "confirmed", "of these later", "both ends")
    print(f"{'fall':20}" + "".join(f"{name:>16}" for name in columns))
    for fall, nights in ((0.05, 7), (0.05, 10), (0.2, 3), (0.2, 5)):
        outcomes = np.array([stays(fall, nights, number) for number in range(series)])
        at_once, confirmed, later, confirmed_later, ends = outcomes.T
        shares = [at_once.mean(), later[at_once].mean() if at_once.any() else 0.0, confirmed.mean()]
        shares += [confirmed_later[confirmed].mean() if confirmed.any() else 0.0, ends.mean()]
        name = f"{fall:.0%}, {nights} nights"
        print(f"{name:20}" + "".join(f"{100 * share:16.1f}" for share in shares))


def stays(fall: float, nights: int, number: int) -> tuple[bool, bool, bool, bool, bool]:
    """Return whether the begin of a fall was found, and confirmed, while it lasted; and later.

    Later is after 60 nights: whether it is then, is confirmed, and both ends are. Found is what is
    dated within two nights.
    """
    random = np.random.default_rng([9, number])
    first = 8 + number % 40
    values = 1 + NOISE / 2 * normal(random, 60)
    values[first : first + nights] *= 1 - fall
    looks = (values[:night] for night in range(first + 3, first + nights + 1))
    points = [point for look in looks for point in near(change_points(look), first, 2)]
    later = change_points(values)
    begins, ends = near(later, first, 2), near(later, first + nights, 2)
    return (
        bool(points),
        not all(point.provisional for point in points),
        bool(begins),
        not all(point.provisional for point in begins),
        bool(begins and ends),
    )


def case(number: int) -> Case:
    link, client, server = f"gw→n{number}", "gw", f"n{number}"
    parameters: dict[str, int | float | str] = {"mode": "stream", "duration": 5.0, "datagram": 1460}
    key = case_key("udp", link, client, server, parameters)
    return Case(key, "udp", link, client, server, parameters)


def build(path: Path, nights: int, cases: int) -> None:
    """Store so many nights; each case got 5 % slower once."""
    random = np.random.default_rng(3)
    planned = [PlannedCase("stream", case(number), REPLICATIONS) for number in range(cases)]
    changed = random.integers(10, nights - 10, cases)
    metrics = {"udp": {"throughput": MetricInfo("bit/s", "higher")}}
    with Store.open(str(path)) as store:
        for night in range(nights):
            commit = hashlib.sha1(f"{night // 7}".encode()).hexdigest()
            new = NewRun("nightly", "", "/", commit, False, 1, "benchmark", "0", "", {})
            run = store.begin_run(new, planned, metrics)
            kernel = f"6.1.{night // 100}"
            for host in ("gw", "n0", "n1"):
                store.add_facts(run, host, {"kernel": kernel})
    # By SQL, as a million commits of one replication each would take five minutes.
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "UPDATE run SET checksum = NULL, started_at ="
            " strftime('%Y-%m-%dT02:00:00.000000Z', '2024-01-01', (id - 1) || ' days')"
        )
        (metric,) = connection.execute("SELECT id FROM metric").fetchone()
        ids = connection.execute("SELECT id, run_id FROM run_case ORDER BY id").fetchall()
        for run_case, run in ids:
            late = run - 1 >= changed[(run_case - 1) % cases]
            level = 1e9 * (0.95 if late else 1) * math.exp(NOISE * random.standard_normal())
            values = level * np.exp(0.005 * random.standard_normal(REPLICATIONS))
            numbered = list(enumerate(values.tolist(), 1))
            connection.executemany(
                "INSERT INTO replication (run_case_id, number, status) VALUES (?, ?, 'ok')",
                [(run_case, number) for number, _ in numbered],
            )
            connection.executemany(
                "INSERT INTO value (run_case_id, metric_id, number, value) VALUES (?, ?, ?, ?)",
                [(run_case, metric, number, value) for number, value in numbered],
            )
    connection.close()
    with Store.open(str(path)) as store:
        for run in store.run_ids():
            store.finish_run(run, "complete")


def seconds(action: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def processor_seconds(action: Callable[[], object]) -> float:
    """Return the CPU time of what `action` starts: about what an idle machine takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command(*arguments: object) -> Callable[[], object]:
    words = [sys.executable, "-m", "railgauge", "history", *map(str, arguments)]
    return lambda: subprocess.run(words, check=True, capture_output=True)


def measure_times(nights: int, cases: int, repeats: int) -> bool:
    random = np.random.default_rng(4)
    values = np.exp(NOISE * random.standard_normal(1000))
    values[500:] *= 0.95
    points = seconds(lambda: change_points(values), repeats)
    wandering = np.exp(np.cumsum(NOISE / 2 * random.standard_normal(1000)))
    worst = seconds(lambda: change_points(wandering), repeats)
    print(
        f"\nchange_points of 1,000 nights: {points:.3f} s; of a level that wanders: {worst:.3f} s"
    )
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "history.db"
        build(path, nights, cases)
        with Store.open(str(path)) as store:
            reading = seconds(lambda: store.history(case(1).key, "throughput"), repeats)
        case_seconds = seconds(command(case(1).key, "--db", path), repeats)
        cpu = processor_seconds(command(case(1).key, "--db", path))
        drawn = seconds(
            command(case(1).key, "--db", path, "--out", Path(name) / "out"), min(3, repeats)
        )
        few = seconds(command("--all", "--nights", 100, "--db", path), min(3, repeats))
    print(f"{nights:,} nights of {cases} cases of {REPLICATIONS} replications")
    print(f"Store.history of one case: {reading:.3f} s")
    print(
        f"railgauge history CASE: {case_seconds:.2f} s ({cpu:.2f} s of CPU);"
        f" its figure, too: {drawn:.2f} s"
    )
    print(f"railgauge history --all --nights 100: {few:.2f} s")
    return max(points, worst) <= MOST_POINTS_SECONDS and case_seconds <= MOST_SECONDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=2000, help="simulated series of each kind")
    parser.add_argument("--nights", type=int, default=1000, help="21 at least")
    parser.add_argument("--cases", type=int, default=100, help="two at least")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("simulation", "times"))
    parser.add_argument(
        "--nightly", type=int, metavar="N", help="a year of looks at N series of each kind, alone"
    )
    parser.add_argument("--no-limits", action="store_true", help="exit status 0 in any case")
    arguments = parser.parse_args()
    good = True
    if arguments.nightly:
        good = simulate_nightly(arguments.nightly)
        sys.exit(not good and not arguments.no_limits)
    if arguments.only != "times":
        good = simulate(arguments.series)
    if arguments.only != "simulation":
        good &= measure_times(arguments.nights, arguments.cases, arguments.repeats)
    sys.exit(not good and not arguments.no_limits)


if __name__ == "__main__":
    main()
