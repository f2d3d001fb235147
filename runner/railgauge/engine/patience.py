"""How long an engine may say nothing before it is taken for hung."""

from __future__ import annotations

from railgauge.plan.cases import Case
from railgauge.plan.catalogue import EngineInfo

# Beyond a replication's own duration: set-up, results, and what lies in the socket buffers, which
# takes its time over a slow link (10 MiB at 1 Mbit/s: 84 s).
_GRACE_SECONDS = 120.0
# How long a replication takes that is bounded by a count or an amount, or that somebody else's
# program measures, is unknown: a plan says so where it is more.
_COUNTED_SECONDS = 3_600.0
# Files that are filled before the first replication and brought to the device after each: at the
# least so many bytes a second.
_LEAST_DISK_RATE = 10e6
# Of a matrix: what each pair measures one after another, the messages that its streams send however
# long they take, and the rate (bit/s) that they get at the least.
_PARTS = 4
_LEAST_MESSAGES = 4
_LEAST_RATE = 100e6


def patience_for(engine: EngineInfo, case: Case, limit: float | None = None) -> float:
    """Return the seconds within which each line of `case`'s launch must come.

    The plan may say it: `limit`.
    """
    if limit is not None:
        return limit
    parameters = case.parameters
    if engine.has_effect("pair_time", parameters):
        return _matrix_seconds(case) + float(parameters.get("warmup", 0)) + _GRACE_SECONDS
    # What somebody else's program does beside its duration is unknown: the user may say how long.
    limit = float(parameters.get("timeout", 0))
    if limit:
        return limit + _GRACE_SECONDS
    if engine.is_timed(parameters):
        files = _layout_seconds(engine, case)
        return engine.timed_seconds(parameters) + files + _GRACE_SECONDS
    return _COUNTED_SECONDS


def _layout_seconds(engine: EngineInfo, case: Case) -> float:
    """Return what it takes at most to fill the files that the engine makes in a folder, if any."""
    parameters = case.parameters
    if not all(engine.has_effect(name, parameters) for name in ("folder", "size")):
        return 0.0
    files = float(parameters.get("threads", 1))
    return files * float(parameters["size"]) / _LEAST_DISK_RATE


def _matrix_seconds(case: Case) -> float:
    """Return what all rounds of a matrix take at most: a stream's end may last as long as it."""
    message = float(case.parameters["size"]) * 8 / _LEAST_RATE
    part = 2 * float(case.parameters["pair_time"]) + _LEAST_MESSAGES * message
    return len(case.members) * _PARTS * part
