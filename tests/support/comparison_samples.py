"""Runs of a plan of many cases, drawn at random, as real machines may give them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from railgauge.stats.series_changes import Compared, Side, compare_all

NOISE = 0.01
Draw = Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]


def normal(draw, shape):
    """Return (runs, cases, replications) around 1."""
    return 1 + NOISE * draw.standard_normal(shape)


def log_normal(draw, shape):
    """A long tail above: the standard deviation of the logarithm is 10 %."""
    return np.exp(0.1 * draw.standard_normal(shape))


def bimodal(draw, shape):
    """Each replication falls into one of two modes, 60 % apart."""
    return np.where(draw.random(shape) < 0.5, 1.0, 1.6) * normal(draw, shape)


def sticky_modes(draw, shape):
    """Two modes 10 % apart, kept for three replications on average."""
    mode = np.empty(shape, bool)
    mode[..., 0] = draw.random(shape[:2]) < 0.5
    for at in range(1, shape[2]):
        mode[..., at] = mode[..., at - 1] ^ (draw.random(shape[:2]) < 1 / 3)
    return np.where(mode, 1.0, 1.1) * normal(draw, shape)


def autocorrelated(draw, shape):
    """Each replication depends on the one before it (0.5)."""
    values = draw.standard_normal(shape)
    for at in range(1, shape[2]):
        values[..., at] = 0.5 * values[..., at - 1] + np.sqrt(0.75) * values[..., at]
    return 1 + NOISE * values


def drifting(draw, shape):
    """Each case of each run has a level of its own, by 0.5 %."""
    return normal(draw, shape) * (1 + 0.005 * draw.standard_normal((*shape[:2], 1)))


def drifting_together(draw, shape):
    """All cases of a run are off by the same, by 0.5 % between runs."""
    return normal(draw, shape) * (1 + 0.005 * draw.standard_normal((shape[0], 1, 1)))


def drifting_much(draw, shape):
    """Each case of each run has a level of its own, by 3 %: a cloud's machines."""
    return normal(draw, shape) * (1 + 0.03 * draw.standard_normal((*shape[:2], 1)))


def differing(between: float, *, together: bool = False) -> Draw:
    """Each case of each run, or each run as a whole, has a level of its own."""

    def draw_runs(draw, shape):
        levels = draw.standard_normal((shape[0], 1 if together else shape[1], 1))
        return normal(draw, shape) * np.exp(between * levels)

    return draw_runs


def drifting_as_noisy(draw, shape):
    """Each case has a noise of its own, from 0.1 to 10 %, and runs differ by nearly as much."""
    noise = 10 ** draw.uniform(-3, -1, (1, shape[1], 1))
    return np.exp(
        noise * (draw.standard_normal(shape) + 0.7 * draw.standard_normal((*shape[:2], 1)))
    )


def coarse_clock(draw, shape):
    """True times between 10 and 30 steps of the clock, all alike but for a drift of 0.1 %."""
    level = draw.uniform(10, 30, (1, shape[1], 1))
    drift = 1 + 0.001 * draw.standard_normal((*shape[:2], 1))
    return np.round(level * drift * (1 + 0.002 * draw.standard_normal(shape)))


def wild(draw, shape):
    """One replication in 20 is off by a factor of up to 3."""
    off = np.where(draw.random(shape) < 0.05, draw.uniform(1, 3, shape), 1)
    return normal(draw, shape) * off


def of_many_kinds(draw, shape):
    """Each case has a noise of its own, from 0.01 to 10 %."""
    noise = 10 ** draw.uniform(-4, -1, (1, shape[1], 1))
    return np.exp(noise * draw.standard_normal(shape))


KINDS: dict[str, Draw] = {
    kind.__name__: kind
    for kind in (
        normal,
        log_normal,
        bimodal,
        sticky_modes,
        autocorrelated,
        drifting,
        drifting_together,
        drifting_much,
        drifting_as_noisy,
        coarse_clock,
        wild,
        of_many_kinds,
    )
}


def compared(values: np.ndarray, smallest: float = 0.02) -> list[Compared]:
    """Compare the last of runs (runs, cases, replications) with all before it: costs."""
    pairs = [(Side(list(case[:-1])), Side([case[-1]])) for case in values.swapaxes(0, 1)]
    return compare_all(pairs, ["lower"] * len(pairs), [smallest] * len(pairs))


def false_alarms(
    draw: np.random.Generator, kind: Draw, times: int, cases=50, replications=10, baseline=1
) -> tuple[float, float]:
    """Return the share of cases, and of comparisons, with a change though nothing changed."""
    changed = np.zeros((times, cases), bool)
    for at in range(times):
        results = compared(kind(draw, (baseline + 1, cases, replications)))
        changed[at] = [result.change in ("faster", "slower") for result in results]
    return float(changed.mean()), float(changed.any(axis=1).mean())


def found_slower(
    draw: np.random.Generator, kind: Draw, times: int, *, slower=0.03, cases=50, baseline=1
) -> float:
    """Return how often one case of many that got slower is found."""
    count = 0
    for _ in range(times):
        values = kind(draw, (baseline + 1, cases, 10))
        values[-1, 0] *= 1 + slower
        count += compared(values)[0].change == "slower"
    return count / times
