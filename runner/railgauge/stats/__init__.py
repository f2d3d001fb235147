"""Numbers in, numbers out: what replications say. Nothing here reads, stores or prints."""

from railgauge.stats.autocorrelation import autocorrelation
from railgauge.stats.averages import Average, MetricKind, average_of
from railgauge.stats.change_points import ChangePoint, change_points
from railgauge.stats.dependence import shared_autocorrelation
from railgauge.stats.interval import (
    Interval,
    harmonic_interval,
    mean_interval,
    median_interval,
)
from railgauge.stats.judgement import Change
from railgauge.stats.mean_difference import SampleMean, mean_difference_interval
from railgauge.stats.multiple import benjamini_hochberg
from railgauge.stats.oddities import Oddities, oddities
from railgauge.stats.outliers import OUTLIER_RANGES, outliers
from railgauge.stats.pair_interval import difference_interval, ratio_interval
from railgauge.stats.rank_test import rank_test
from railgauge.stats.series_changes import Compared, Side, compare_all
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
from railgauge.stats.stopping_rule import (
    ENDED_LEVEL,
    FEWEST,
    StopRule,
    narrow_enough,
    within_share,
)
from railgauge.stats.summaries import summaries
from railgauge.stats.summary import Summary, summarise
from railgauge.stats.trend import trend
from railgauge.stats.two_groups import TwoGroups, two_groups

__all__ = [
    "ENDED_LEVEL",
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
    "MetricKind",
    "Oddities",
    "SampleMean",
    "Shortfalls",
    "Side",
    "StopRule",
    "Summary",
    "TwoGroups",
    "autocorrelation",
    "average_of",
    "benjamini_hochberg",
    "change_points",
    "compare_all",
    "difference_interval",
    "find_shortfalls",
    "harmonic_interval",
    "mean_difference_interval",
    "mean_interval",
    "median_interval",
    "narrow_enough",
    "oddities",
    "outliers",
    "rank_test",
    "ratio_interval",
    "shared_autocorrelation",
    "summaries",
    "summarise",
    "trend",
    "two_groups",
    "within_share",
]
