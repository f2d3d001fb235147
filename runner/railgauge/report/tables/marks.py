"""The footnotes of a table's cells: what is to be known of a number beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from railgauge.base.characters import visible
from railgauge.base.number import best_unit, scale
from railgauge.report.tables.narrowness import never_narrow, why_never
from railgauge.report.tables.table import Footnote
from railgauge.stats import OUTLIER_RANGES, Oddities, Summary, TwoGroups
from railgauge.store.records import Series

# Of each kind so many footnotes say what they have to say, the rest where to find it.
_MOST = 8
_ELSEWHERE = "the CSV file has it in the column note"
_WARNING = "a warning of another kind"
# What may differ between warnings that share a footnote: 1KiB, 4, 97.
_FIGURE = re.compile(r"(?<!\S)\d\S*")


class Remark:
    """A sentence about a cell; of some `kind`s there may be as many as cells."""

    __slots__ = ("kind", "text")

    def __init__(self, text: str, kind: str = "") -> None:
        self.text = text
        self.kind = kind


class Marks:
    """Hands out the marks a, b, … z, aa, … to cells.

    Equal remarks share one, and so do warnings that differ in their figures only.
    """

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}
        self._kinds: dict[str, dict[str, None]] = {}
        self._texts: dict[str, dict[str, None]] = {}

    def of(self, remarks: Sequence[Remark]) -> str:
        """Return the marks for a cell with these remarks, such as `a,b`; "" if there is none."""
        keys = dict.fromkeys(self._told(one) for one in remarks)
        return ",".join(self._marks.setdefault(key, _letters(len(self._marks))) for key in keys)

    def footnotes(self) -> tuple[Footnote, ...]:
        """Return what the marks handed out so far mean, in the order they were handed out."""
        return tuple(Footnote(mark, _merged(self._texts[key])) for key, mark in self._marks.items())

    def _told(self, remark: Remark) -> str:
        """Note the remark and return what it shares its mark by.

        Where there are too many of its kind, that is a sentence for all the others.
        """
        key = _FIGURE.sub("…", remark.text) if remark.kind == _WARNING else remark.text
        text = remark.text
        if remark.kind:
            known = self._kinds.setdefault(remark.kind, {})
            if key not in known and len(known) == _MOST:
                key = text = f"{remark.kind}: {_ELSEWHERE}"
            else:
                known[key] = None
        self._texts.setdefault(key, {})[text] = None
        return key


def _merged(texts: Iterable[str]) -> str:
    """Return what the texts, of as many words each, have in common, with … for the rest."""
    words = zip(*(text.split(" ") for text in texts), strict=True)
    return " ".join(each[0] if len(set(each)) == 1 else "…" for each in words)


def remarks(
    one: Series, warnings: Sequence[str], found: Summary | None, odd: Oddities
) -> Iterator[Remark]:
    """Yield what is to be said of a case's values, which `found` sums up.

    `warnings` are those of its launches.
    """
    if one.skipped:
        yield Remark(f"skipped: {visible(one.skipped)}")
    if not one.skipped or len(one.values) or one.failed:
        counts = _counts(one, int(one.suspect.sum()))
        if counts:
            yield Remark(counts)
    if never_narrow(one):
        yield Remark(why_never(one))
    if not len(one.values):
        return
    for warning in warnings:
        # Where there is one side only, it needs no name.
        told = warning if one.case.server is not None else warning.removeprefix("client: ")
        yield Remark(f"warning: {visible(told)}", _WARNING)
    if found is not None and found.outliers:
        yield Remark(_outliers(found.outliers, found.n), "values with outliers")
    if odd.autocorrelation is not None:
        yield Remark(_correlated(odd.autocorrelation), "correlated replications")
    if odd.groups is not None and in_groups(one):
        yield Remark(_told(one, odd.groups), "values fall into two groups")


def _counts(one: Series, suspect: int) -> str:
    n, failed = len(one.values), one.failed
    # A case that ended by its rule or its time owes no more than the least.
    owed = one.planned if one.least is None or not one.ended else one.least
    if n >= owed and not failed and not suspect:
        return ""
    several = f"{one.least} to {one.planned}" if one.least is not None else f"{one.planned}"
    reasons = [f"{n} of {several} replications"]
    if failed:
        reasons.append(f"{failed} failed")
    if n + failed < owed:
        reasons.append(_missing(one, owed - n - failed))
    if suspect:
        reasons.append(f"{suspect} suspect (included)")
    return "; ".join(reasons)


def _missing(one: Series, missing: int) -> str:
    if one.least is not None and not one.ended:
        return "not ended yet"
    return f"{missing} not measured"


def _outliers(count: int, n: int) -> str:
    are = "is an outlier" if count == 1 else "are outliers"
    return (
        f"{count} of {n} values {are}, more than {OUTLIER_RANGES:g} interquartile ranges beyond"
        " the quartiles (included)"
    )


def _correlated(alike: float) -> str:
    if alike > 0:
        which, say, wide = "resembles", "less", "narrow"
    else:
        which, say, wide = "differs from", "more", "wide"
    return (
        f"each replication {which} the one before (autocorrelation {alike:.2f}), so that they say"
        f" {say} than independent ones: the 95 % interval is too {wide}"
    )


def in_groups(one: Series) -> bool:
    """Tell whether groups of values would say anything: counts and shares have gaps anyway."""
    return one.unit not in ("", "1")


def _told(one: Series, found: TwoGroups) -> str:
    low, high, unit = _quantities(found.low, found.high, one.unit)
    text = (
        f"values fall into two groups: {found.lower} around {low}, {found.upper} around {high}"
        f" {unit}"
    )
    return f"{text}: no single number stands for both" if found.mean_apart else text


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
