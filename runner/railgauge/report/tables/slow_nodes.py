"""The list of hosts whose links all fall short, and of single slow links between other hosts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from railgauge.base.characters import capitalised, visible
from railgauge.base.errors import InputError
from railgauge.base.number import (
    best_unit,
    fitting_units,
    format_number,
    plain_number,
    plural,
    scale,
)
from railgauge.plan.cases import Value
from railgauge.report.tables.axes import FIXED_AXES, Axis, place_label
from railgauge.report.tables.matrix import Matrix, make_matrix
from railgauge.report.tables.narrowness import alarms
from railgauge.report.tables.notes import sources, words
from railgauge.report.tables.selection import (
    engines_shown,
    group_by_axes,
    make_axes,
    matching,
    selected_and_available,
)
from railgauge.report.tables.several_runs import shared_by_runs
from railgauge.report.tables.table import Cell, Column, Heading, Row, RowLabel, Table
from railgauge.stats.shortfalls import (
    EXCUSED,
    HOST_DEVIATIONS,
    HOST_LEAST,
    LINK_DEVIATIONS,
    LINK_LEAST,
    HostFinding,
    Shortfalls,
    find_shortfalls,
)

if TYPE_CHECKING:
    from railgauge.plan.catalogue import Catalogue
    from railgauge.report.definition.definition_model import SlowNodesSpec
    from railgauge.report.tables.run_axes import RunAxes
    from railgauge.store.records import Series

_MOST_ROWS = 100
# Of links that differ beyond all measure, as with 0 bit/s among them, the rule's numbers would be
# hundreds of digits long: the logarithm of a ratio, and a relative standard deviation.
_MOST_WORSE, _MOST_SPREAD = math.log(1e6), 1e4
HEADER = ("host", "as", "peer", "verdict", "value", "expected", "ratio", "links", "short")
_TOO_FEW = "There are too few hosts to judge any."
_WORDS = {"slow": "slow", "apart": "apart", "silent": "nothing measured"}


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The list: as a table to read, as records (HEADER, base units) and as plain data for JSON."""

    table: Table
    records: tuple[tuple[Value | None, ...], ...]
    data: dict[str, Any]


def build_listings(
    spec: SlowNodesSpec,
    series: Sequence[Series],
    *,
    catalogue: Catalogue | None = None,
    imported: Collection[int] = (),
    run_axes: RunAxes | None = None,
    by: str = "",
) -> list[Listing]:
    """Return the list that `spec` describes; with `each`, one for each place on those axes.

    `run_axes` puts links on axes that stand in no case; runs that share a pair are distinguished
    on the axis `by`.

    InputError when nothing is selected, when a pair has two cases, or when the metric can't be
    compared by ratio.
    """
    links = [link for link in series if link.metric == spec.metric and link.case.server is not None]
    if run_axes is not None:
        links = run_axes.placed(links, [*spec.select, *spec.each, by])
    parameters = (name for link in links for name in link.case.parameters)
    names = [*FIXED_AXES, *spec.select, *spec.each, *spec.axes, *parameters, by]
    axes = make_axes(names, spec.axes, engines_shown(spec.select, links), catalogue)
    selected = matching(links, spec.select, axes)
    if not selected:
        raise _none_selected(spec, links, axes)
    if by and shared_by_runs(selected, spec.each):
        spec = spec.model_copy(update={"each": [*spec.each, by]})
    listings = []
    for i, (key, group) in enumerate(group_by_axes(selected, spec.each, axes.__getitem__), 1):
        title, name = visible(spec.title), spec.name
        if spec.each:
            title += f": {place_label(zip(spec.each, key, strict=True), axes.__getitem__)}"
            name += f"-{i}"
        listings.append(_Maker(spec, name, title, group, axes["client_host"]).listing(imported))
    return listings


def _none_selected(
    spec: SlowNodesSpec, links: Sequence[Series], axes: dict[str, Axis]
) -> InputError:
    start = f"list {spec.name!r}: "
    if not links:
        return InputError(
            f"{start}these runs have no value of {spec.metric} between two hosts: name a run of"
            " pairs of hosts, or another metric"
        )
    selected, available = selected_and_available(spec.select, links, axes)
    return InputError(
        f"{start}no value of {spec.metric} has {', '.join(selected)}; there is:"
        f" {'; '.join(available)}. Change 'select', or name other runs"
    )


class _Maker:
    """Makes one list."""

    def __init__(
        self, spec: SlowNodesSpec, name: str, title: str, series: Sequence[Series], axis: Axis
    ) -> None:
        self._spec, self._name, self._title = spec, name, title
        self._series, self._axis = series, axis
        part = f"list {name!r}"
        units = {(entry.unit, entry.better) for entry in series}
        if len(units) > 1:
            raise InputError(
                f"{part}: {spec.metric} differs between engines in its unit or direction: select"
                " one engine"
            )
        ((self._base, better),) = units
        self._higher = better == "higher"
        if better not in ("higher", "lower"):
            raise InputError(
                f"{part}: neither a higher nor a lower {spec.metric} is better, so none falls"
                " short: choose another metric"
            )
        self._matrix = make_matrix(part, series, "median", axis)
        best = make_matrix(part, series, "maximum" if self._higher else "minimum", axis)
        try:
            self._shortfalls = find_shortfalls(
                self._matrix.values,
                self._matrix.planned,
                higher_is_better=self._higher,
                best=best.values,
            )
        except ValueError as error:
            raise InputError(
                f"{part}: {spec.metric} has values that can't be compared by ratio (0 or less):"
                " choose another metric"
            ) from error
        values = self._matrix.values
        self._unit = spec.unit or best_unit(self._base, values[values > 0].tolist())
        per_unit = scale(self._unit, self._base)
        if per_unit is None:
            raise InputError(
                f"{part}: {self._unit!r} can't show {spec.metric}: use one of"
                f" {', '.join(fitting_units(self._base))}"
            )
        self._per_unit = per_unit

    def listing(self, imported: Collection[int]) -> Listing:
        """Return the list; its notes end with the runs that it comes from."""
        hosts = _worst_first(self._shortfalls.hosts)
        records = [*map(self._host_record, hosts), *self._link_records()]
        rows = list(self._rows(hosts))
        notes = [*self._rule(), *_left_out(self._shortfalls, self._matrix)]
        if not rows:
            judged = self._shortfalls.judged
            notes.insert(0, "No host and no link falls short." if judged else _TOO_FEW)
        if len(rows) > _MOST_ROWS:
            notes.append(f"The first {_MOST_ROWS} of {len(rows)}; {self._name}.csv has them all.")
        suspect = sum(1 for entry in self._series if entry.suspect.any())
        if suspect:
            notes.append(f"Links with suspect replications, which are included: {suspect}.")
        notes.append(sources(self._series, imported))
        notes += [visible(line) for line in self._spec.notes.splitlines() if line.strip()]
        unit = "" if self._unit == "1" else self._unit
        headings = (
            Heading(capitalised(words(self._spec.metric)), unit),
            Heading("Expected", unit),
            Heading("Ratio"),
            Heading("Links"),
            Heading("Short"),
        )
        digits = (self._spec.digits, self._spec.digits, 2, 0, 0)
        table = Table(
            name=self._name,
            title=self._title,
            stub=("Host", "Falls short", "Finding"),
            header=(headings,),
            row_axes=("host", "as", "finding"),
            column_axes=(),
            columns=tuple(
                Column((), heading.text, "", "", "", "", places)
                for heading, places in zip(headings, digits, strict=True)
            ),
            rows=tuple(rows[:_MOST_ROWS]),
            footnotes=(),
            notes=tuple(notes),
            alarms=alarms(self._series),
        )
        return Listing(table, tuple(records), self._data(records))

    def _rule(self) -> Iterator[str]:
        shortfalls, share = self._shortfalls, 100 - 100 // EXCUSED
        host = self._worse_than(HOST_DEVIATIONS, HOST_LEAST)
        over = "over " if shortfalls.spread > _MOST_SPREAD else ""
        yield (
            f"A host is slow as a client, or as a server, when at least {share} % of its links"
            f" there are {host} what is expected: the median of what the other hosts reach with"
            f" their best {100 // EXCUSED} %. The links' relative standard deviation is"
            f" {over}{_percent(min(shortfalls.spread, _MOST_SPREAD), digits=2)}."
        )
        if shortfalls.links:
            link = self._worse_than(LINK_DEVIATIONS, LINK_LEAST)
            back = ""
            if shortfalls.back_spread < _MOST_SPREAD:
                worse = self._worse_than(LINK_DEVIATIONS, LINK_LEAST, shortfalls.back_spread)
                back = f", or {worse} the way back, as no other link of theirs is"
            yield (
                f"A link is slow when its best replication and its median are {link} the medians of"
                f" its two hosts' other links{back}, and the hosts are not slow."
            )
        if any(finding.verdict == "apart" for finding in shortfalls.hosts):
            yield (
                "Apart: up to speed with others that are listed, so look for the cause on the way"
                " between them and the rest."
            )

    def _worse_than(self, deviations: float, least: float, spread: float | None = None) -> str:
        """Return from which ratio on, as the column has it, a value falls short: `below 95 % of`.

        By ratio, what is 0.95 of a rate is 1/0.95 of a time.
        """
        spread = self._shortfalls.spread if spread is None else spread
        worse = max(deviations * math.log1p(spread), -math.log1p(-least))
        far = "far " if worse > _MOST_WORSE else ""
        worse = min(worse, _MOST_WORSE)
        if self._higher:
            return f"{far}below {_percent(math.exp(-worse))} of"
        return f"{far}above {_percent(math.exp(worse))} of"

    def _rows(self, hosts: Sequence[HostFinding]) -> Iterator[Row]:
        for i, finding in enumerate(hosts):
            first = i == 0 or hosts[i - 1].host != finding.host
            span = 2 if i + 1 < len(hosts) and hosts[i + 1].host == finding.host else 1
            name = RowLabel(self._text(finding.host), span if first else 0)
            labels = (name, RowLabel(_side(finding), 1), RowLabel(_WORDS[finding.verdict], 1))
            numbers = self._cells(finding.level, finding.others_level)
            yield Row(labels, (*numbers, Cell(str(finding.links)), Cell(str(finding.short))), ())
        for link in self._shortfalls.links:
            pair = RowLabel(f"{self._text(link.sender)} to {self._text(link.receiver)}", 1)
            labels = (pair, RowLabel("as a link", 1), RowLabel("slow", 1))
            numbers = self._cells(link.value, link.expected)
            yield Row(labels, (*numbers, Cell("1"), Cell("1")), ())

    def _cells(self, value: float, expected: float) -> tuple[Cell, ...]:
        if math.isnan(value):
            return (Cell("---"),) * 3
        digits = self._spec.digits
        return (
            Cell(format_number(value, self._per_unit, digits)),
            Cell(format_number(expected, self._per_unit, digits)),
            Cell(f"{value / expected:.2f}"),
        )

    def _text(self, host: int) -> str:
        return self._axis.text(self._matrix.hosts[host])

    def _host_record(self, finding: HostFinding) -> tuple[Value | None, ...]:
        ratio = finding.level / finding.others_level
        numbers: tuple[float | None, ...] = (finding.level, finding.others_level, ratio)
        if finding.verdict == "silent":
            numbers = (None, None, None)
        host = self._matrix.hosts[finding.host]
        side = "client" if finding.sends else "server"
        return (host, side, None, finding.verdict, *numbers, finding.links, finding.short)

    def _link_records(self) -> Iterator[tuple[Value | None, ...]]:
        hosts = self._matrix.hosts
        for link in self._shortfalls.links:
            numbers = (link.value, link.expected, link.value / link.expected)
            yield (hosts[link.sender], "client", hosts[link.receiver], "link", *numbers, 1, 1)

    def _data(self, records: Sequence[tuple[Value | None, ...]]) -> dict[str, Any]:
        return {
            "name": self._name,
            "title": self._title,
            "metric": self._spec.metric,
            "unit": self._base,
            "hosts": len(self._matrix.hosts),
            "judged": self._shortfalls.judged,
            "missing_pairs": int(self._matrix.missing.sum()),
            "spread": self._shortfalls.spread,
            "findings": [dict(zip(HEADER, record, strict=True)) for record in records],
        }


def _side(finding: HostFinding) -> str:
    return "as client" if finding.sends else "as server"


def _worst_first(hosts: Sequence[HostFinding]) -> list[HostFinding]:
    """Return the hosts with both their directions together, the silent and the slowest first."""

    def badness(finding: HostFinding) -> float:
        if finding.verdict == "silent" or not finding.level or not finding.others_level:
            return math.inf
        return abs(math.log(finding.level / finding.others_level))

    worst: dict[int, float] = {}
    for finding in hosts:
        worst[finding.host] = max(worst.get(finding.host, 0.0), badness(finding))
    return sorted(
        hosts, key=lambda finding: (-worst[finding.host], finding.host, not finding.sends)
    )


def _percent(share: float, digits: int = 4) -> str:
    """Return a share in percent."""
    return f"{plain_number(100 * share, digits)} %"


def _left_out(shortfalls: Shortfalls, matrix: Matrix) -> Iterator[str]:
    missing = int(matrix.missing.sum())
    if missing:
        planned = int(matrix.planned.sum())
        yield f"Without a value, failed or not measured: {missing} of {plural(planned, 'pair')}."
    if shortfalls.judged < len(matrix.hosts):
        yield (
            f"{shortfalls.judged} of {len(matrix.hosts)} hosts could be judged: it takes two"
            " partners, and two more hosts with as many."
        )
