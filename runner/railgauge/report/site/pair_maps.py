"""Maps of the pairs of hosts that a run measured, where it measured most pairs of three or more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from railgauge.base.number import in_best_unit, plural
from railgauge.plan.catalogue.headlines import headlines
from railgauge.report.site.drawings import PairValue, pairs_map, shares
from railgauge.report.site.run_data import DataCase, MetricKind, RunData
from railgauge.stats.digits import ratio_text
from railgauge.stats.series_changes import BETTER

_LEAST_HOSTS = 3
_MOST = 8
# A pair below this share of the median is named.
_SLOW, _MOST_NAMED = 0.9, 3

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairMap:
    """A test's pairs: `svg` is empty where they are too many to draw."""

    title: str
    summary: str
    svg: str


def pair_maps(data: RunData) -> list[PairMap]:
    """Return a map for each test of pairs: of its first headline metric, as the medians are.

    Of cases that differ in more than their links there is one for each; eight at most.
    """
    values: dict[tuple[str, str], dict[MetricKind, dict[_Pair, list[float]]]] = {}
    planned: dict[tuple[str, str], list[_Pair]] = {}
    for case in data.cases:
        if case.server:
            links = planned.setdefault((case.test, case.differing), [])
            links.append((case.client, case.server))
    for case, metric, row in data.measured():
        if row.median is not None and case.server and metric.better in BETTER:
            of_test = values.setdefault((case.test, case.differing), {})
            of_pairs = of_test.setdefault(metric, {})
            of_pairs.setdefault((case.client, case.server), []).append(row.median)
    order = [*headlines()]
    maps = []
    for test, of_test in values.items():
        if _is_matrix(set(planned[test])):
            metric = min(of_test, key=lambda kind: (_place(order, kind.name), kind))
            case = next(case for case in data.cases if (case.test, case.differing) == test)
            maps.append(_map(case, metric, of_test[metric], planned[test]))
    return maps[:_MOST]


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _is_matrix(pairs: Collection[_Pair]) -> bool:
    hosts = {host for pair in pairs for host in pair}
    # A star of links to one host is no matrix.
    return len(hosts) >= _LEAST_HOSTS and 2 * len(pairs) >= len(hosts) * (len(hosts) - 1)


def _map(
    case: DataCase,
    metric: MetricKind,
    of_pairs: Mapping[_Pair, Sequence[float]],
    planned: Sequence[_Pair],
) -> PairMap:
    slowest_first = {
        pair: sorted(values, reverse=metric.better == "lower") for pair, values in of_pairs.items()
    }
    values = {pair: of_pair[0] for pair, of_pair in slowest_first.items()}
    share = shares(values, metric.better)
    hosts = {host for pair in planned for host in pair}
    quantity = metric.name.replace("_", " ")
    name = ", ".join(filter(None, (case.name.partition(": ")[0], case.differing)))
    noun = "pair" if len(set(planned)) == len(planned) else "link"
    measured = sum(map(len, of_pairs.values()))
    have = "has" if measured == 1 else "have"
    summary = f"{len(hosts)} hosts, {measured} of {plural(len(planned), noun)} {have} a value"
    lacking = [pair for pair in dict.fromkeys(planned) if pair not in of_pairs]
    if lacking:
        summary += "; a cross: no value"
    if noun == "link":
        summary += "; of several between two hosts the slowest is shown"
    slow = sorted((pair for pair in share if share[pair] < _SLOW), key=lambda pair: share[pair])
    if slow:
        named = [
            f"{client} to {server} {in_best_unit(values[client, server], metric.unit)}"
            f" (×{ratio_text(share[client, server])})"
            for client, server in slow[:_MOST_NAMED]
        ]
        more = f" and {len(slow) - len(named)} more" if len(slow) > len(named) else ""
        summary += f"; slower than {_SLOW} of the median: {', '.join(named)}{more}"
    else:
        summary += f"; none is slower than {_SLOW} of the median"
    pairs = [
        PairValue(*pair, _texts(of_pair, metric.unit), share.get(pair, 1.0))
        for pair, of_pair in slowest_first.items()
    ]
    title = f"{name}: {quantity} between hosts"
    return PairMap(title, summary, pairs_map(f"{title}. {summary}", hosts, pairs, lacking))


def _texts(values: Sequence[float], unit: str) -> str:
    return ", ".join(in_best_unit(value, unit) for value in values)
