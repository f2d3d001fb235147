"""What a host could do at most: what its owner declares, else what its facts give.

Nothing is guessed: where the facts don't suffice there is no peak: `missing_peak_reason`.
"""

from railgauge.hosts.peaks.derived_peak import missing_peak_reason
from railgauge.hosts.peaks.peak import LINK_RATE, Peak

__all__ = ["LINK_RATE", "Peak", "missing_peak_reason"]
