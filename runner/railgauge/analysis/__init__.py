"""Numbers in, numbers out: what replications say. Nothing here reads, stores or prints."""

from railgauge.analysis.autocorrelation import autocorrelation
from railgauge.analysis.averages import Average, average_of
from railgauge.analysis.change_points import ChangePoint, change_points
from railgauge.analysis.compare import Compared, Side, compare_all
from railgauge.analysis.interval import Interval, mean_interval, median_interval
from railgauge.analysis.multiple import benjamini_hochberg
from railgauge.analysis.oddities import Oddities, oddities
from railgauge.analysis.outliers import OUTLIER_RANGES, outliers
from railgauge.analysis.pair_interval import difference_interval, ratio_interval
from railgauge.analysis.rank_test import RankTest, rank_test
from railgauge.analysis.shortfalls import (
    EXCUSED,
    HOST_DEVIATIONS,
    HOST_LEAST,
    LINK_DEVIATIONS,
    LINK_LEAST,
    HostFinding,
    LinkFinding,
    Shortfalls,
    Verdict,
    find_shortfalls,
)
from railgauge.analysis.stopping import FEWEST, StopRule, narrow_enough, within_share
from railgauge.analysis.summaries import summaries
from railgauge.analysis.summary import Summary, summarise
from railgauge.analysis.two_groups import TwoGroups, two_groups
from railgauge.analysis.verdict import Change

__all__ = [
    "EXCUSED",
    "FEWEST",
    "HOST_DEVIATIONS",
    "HOST_LEAST",
    "LINK_DEVIATIONS",
    "LINK_LEAST",
    "OUTLIER_RANGES",
    "Average",
    "Change",
    "ChangePoint",
    "Compared",
    "HostFinding",
    "Interval",
    "LinkFinding",
    "Oddities",
    "RankTest",
    "Shortfalls",
    "Side",
    "StopRule",
    "Summary",
    "TwoGroups",
    "Verdict",
    "autocorrelation",
    "average_of",
    "benjamini_hochberg",
    "change_points",
    "compare_all",
    "difference_interval",
    "find_shortfalls",
    "mean_interval",
    "median_interval",
    "narrow_enough",
    "oddities",
    "outliers",
    "rank_test",
    "ratio_interval",
    "summaries",
    "summarise",
    "two_groups",
    "within_share",
]
