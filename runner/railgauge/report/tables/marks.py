"""The footnotes of a table's cells: remarks on their numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from railgauge.base.characters import visible
from railgauge.base.number import best_unit, plural, scale
from railgauge.report.tables.narrowness import never_narrow, never_narrow_note
from railgauge.report.tables.table import Footnote
from railgauge.stats.oddities import Oddities
from railgauge.stats.outliers import OUTLIER_RANGES
from railgauge.stats.summary import Summary
from railgauge.stats.two_groups import TwoGroups
from railgauge.store.records import Series

if TYPE_CHECKING:
    from railgauge.report.definition.definition_model import NoteLevel

# Of each kind so many footnotes have their own text, the rest say where to find it.
_MOST = 8
_ELSEWHERE = "the CSV file has it in the column note"
_WARNING = "a warning of another kind"
_UNLIKE = "settings that were not granted as asked"
# The engines' own sentence on a buffer that _UNLIKE speaks of.
_CLAMPED = re.compile(r"(?:client|server): (?:snd|rcv)buf: asked for ")
# What may differ between warnings that share a footnote: 1KiB, 4, 97.
_FIGURE = re.compile(r"(?<!\S)\d\S*")


# What speaks against a replication, by the code of the suspicion.
_SUSPECT = {
    "steal": "the hypervisor took CPU time",
    "foreign-cpu": "other programs used a CPU",
    "foreign-traffic": "there was other traffic on the interface",
    "swapped": "pages were swapped",
    "throttled": "CPUs were throttled",
    "receive-drops": "packets were dropped at the receiver",
    "unwatched": "no system log shows what else ran",
    "unheld": "another run may have measured there meanwhile",
    "under-rate": "less was sent than asked for",
    "untimed": "part of what was received was not timed",
}


class Remark(NamedTuple):
    """A sentence about a cell; of some `kind`s there may be as many as cells.

    `brief` is a clause that cells may share, "" where that is the text. What the author of the
    definition `wrote` always stands.
    """

    text: str
    kind: str = ""
    brief: str = ""
    wrote: bool = False


class Marks:
    """Hands out the marks a, b, … z, aa, … to cells.

    Equal remarks share one, and so do warnings that differ in their figures only. With `short`
    notes all do that are alike in brief. What is `shared`, by most cells then and else by all, has
    none.
    """

    def __init__(self, level: NoteLevel = "all", shared: Collection[str] = ()) -> None:
        self._level, self._shared = level, shared
        self._marks: dict[str, str] = {}
        self._kinds: dict[str, dict[str, None]] = {}
        self._texts: dict[str, dict[str, None]] = {}

    def of(self, remarks: Sequence[Remark]) -> str:
        """Return the marks for a cell with these remarks, such as `a,b`; "" if there is none."""
        if self._level == "none":
            remarks = [remark for remark in remarks if remark.wrote]
        elif self._level == "short":
            remarks = [
                Remark(remark.brief) if remark.brief else remark
                for remark in remarks
                if in_brief(remark) not in self._shared
            ]
        elif self._shared:
            remarks = [
                remark for remark in remarks if remark.wrote or remark.text not in self._shared
            ]
        keys = dict.fromkeys(map(self._key, remarks))
        return ",".join(self._marks.setdefault(key, _letters(len(self._marks))) for key in keys)

    def footnotes(self) -> tuple[Footnote, ...]:
        """Return what the marks handed out so far mean, in the order they were handed out."""
        return tuple(Footnote(mark, _merged(self._texts[key])) for key, mark in self._marks.items())

    def _key(self, remark: Remark) -> str:
        """Record the remark and return the key of its mark, which it may share.

        Where there are too many of its kind, that is a sentence for all the others.
        """
        key = _FIGURE.sub("…", remark.text) if _mergeable(remark) else remark.text
        text = remark.text
        if remark.kind:
            keys = self._kinds.setdefault(remark.kind, {})
            if key not in keys and len(keys) == _MOST:
                key = text = f"{remark.kind}: {_ELSEWHERE}"
            else:
                keys[key] = None
        self._texts.setdefault(key, {})[text] = None
        return key


def in_brief(remark: Remark) -> str:
    """Return the clause that stands for the remark, and for others that are alike."""
    return _FIGURE.sub("…", remark.text) if _mergeable(remark) else remark.brief or remark.text


def _mergeable(remark: Remark) -> bool:
    return remark.kind in (_WARNING, _UNLIKE)


def _merged(texts: Iterable[str]) -> str:
    """Return what the texts, of as many words each, have in common, with … for the rest."""
    columns = zip(*(text.split(" ") for text in texts), strict=True)
    return " ".join(words[0] if len(set(words)) == 1 else "…" for words in columns)


def remarks_on(
    series: Series,
    warnings: Sequence[str],
    summary: Summary | None,
    odd: Oddities,
    unlike: str = "",
    suspicions: Iterable[str] = (),
) -> Iterator[Remark]:
    """Yield the remarks on a case's values and their `summary`.

    `warnings` are those of its launches, `unlike` says which settings were not granted as asked,
    `suspicions` are the codes of what speaks against its replications.
    """
    if series.published is not None and series.published.absence is not None:
        # The cell itself says why.
        return
    if series.skipped:
        yield Remark(f"skipped: {visible(series.skipped)}")
    if not series.skipped or len(series.values) or series.failed:
        if counts := _counts(series):
            yield Remark(counts)
        if count := int(series.suspect.sum()):
            yield from _suspect(count, len(series.values), suspicions)
    if never_narrow(series):
        yield Remark(never_narrow_note(series))
    if not len(series.values):
        return
    yield from _of_launches(series, warnings, unlike)
    if summary is not None and summary.outliers:
        text = _outliers(summary.outliers, summary.n)
        yield Remark(text, "values with outliers", "some values are outliers (included)")
    yield from _oddities(series, odd)


def _of_launches(series: Series, warnings: Sequence[str], unlike: str) -> Iterator[Remark]:
    if unlike:
        yield Remark(unlike, _UNLIKE)
    for warning in warnings:
        if unlike and _CLAMPED.match(warning):
            continue
        # Where there is one side only, it needs no name.
        text = warning if series.case.server is not None else warning.removeprefix("client: ")
        yield Remark(f"warning: {visible(text)}", _WARNING)


def _oddities(series: Series, odd: Oddities) -> Iterator[Remark]:
    if odd.trend is not None:
        way = "rise" if odd.trend > 0 else "fall"
        clause = f"values {way} from replication to replication: no steady state"
        yield Remark(_trend(odd.trend), "replications with a trend", clause)
    elif odd.autocorrelation is not None:
        clause = "replications depend on the one before: the interval is not to be relied on"
        text = _correlated(odd.autocorrelation, series.level)
        yield Remark(text, "correlated replications", clause)
    if odd.groups is not None and in_groups(series):
        kind = "values fall into two groups"
        clause = f"{kind}: no single number stands for both" if odd.groups.mean_apart else kind
        yield Remark(_two_groups(series, odd.groups), kind, clause)


def _suspect(count: int, n: int, codes: Iterable[str]) -> Iterator[Remark]:
    text = f"{count} of {plural(n, 'replication')} suspect (included)"
    clauses = [_SUSPECT.get(code, visible(code)) for code in dict.fromkeys(codes)]
    for clause in clauses or ["replications are suspect"]:
        yield Remark(f"{text}: {clause}" if clauses else text, brief=clause)


def _counts(series: Series) -> str:
    n, failed = len(series.values), series.failed
    # A case that ended by its rule or its time needs no more than the least.
    needed = series.planned if series.least is None or not series.ended else series.least
    missing = needed - n - failed
    if n >= needed and not failed:
        return ""
    least = "" if series.least is None else f"{series.least} to "
    reasons = [f"{n} of {least}{plural(series.planned, 'replication')}"]
    if failed:
        reasons.append(f"{failed} failed")
    if missing > 0 and series.least is not None and not series.ended:
        reasons.append("not ended yet")
    elif missing > 0:
        reasons.append(f"{missing} not measured")
    return "; ".join(reasons)


def _outliers(count: int, n: int) -> str:
    are = "is an outlier" if count == 1 else "are outliers"
    return (
        f"{count} of {n} values {are}, more than {OUTLIER_RANGES:g} interquartile ranges beyond"
        " the quartiles (included)"
    )


def _trend(trend: float) -> str:
    way = "rise" if trend > 0 else "fall"
    return (
        f"values {way} from replication to replication (rank correlation with their order"
        f" {trend:.2f}): what was measured warmed up or drifted, and neither median nor interval"
        " is that of a steady state"
    )


def _correlated(autocorrelation: float, level: float) -> str:
    if autocorrelation > 0:
        relation, amount, width = "resembles", "less", "narrow"
    else:
        relation, amount, width = "differs from", "more", "wide"
    return (
        f"each replication {relation} the one before (autocorrelation {autocorrelation:.2f}), so"
        f" that they say {amount} than independent ones: the {100 * level:.0f} % interval is too"
        f" {width}"
    )


def in_groups(series: Series) -> bool:
    """Return whether groups of values mean anything: counts and shares have gaps anyway."""
    return series.unit not in ("", "1")


def _two_groups(series: Series, groups: TwoGroups) -> str:
    low, high, unit = _quantities(groups.low, groups.high, series.unit)
    text = (
        f"values fall into two groups: {groups.lower} around {low}, {groups.upper} around {high}"
        f" {unit}"
    )
    return f"{text}: no single number stands for both" if groups.mean_apart else text


def _quantities(low: float, high: float, base: str) -> tuple[str, str, str]:
    """Return both as numbers of three digits or more in one unit, and that unit."""
    unit = best_unit(base, [high])
    per_unit = scale(unit, base)
    assert per_unit is not None
    return _three(low / float(per_unit)), _three(high / float(per_unit)), unit


def _three(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def _letters(place: int) -> str:
    """Return a, b, … z, aa, ab, … for 0, 1, …."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters
