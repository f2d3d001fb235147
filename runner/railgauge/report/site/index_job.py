"""What the first page of a site is made of: enough to see whether it has to be made again."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.report.site.folder import DATA, INDEX
from railgauge.report.site.mark import FileMark, fingerprint
from railgauge.report.site.site_pages import SitePages, run_file
from railgauge.store import Store


class IndexJob:
    """The first page of a site whose other pages have these `marks`.

    `runs` are those that have a page, by number, `counts` what their pages count.
    """

    name = INDEX
    # The file that scripts of pages find the runs' data by. The first page is last: the others are
    # there when it is.
    files = (f"{DATA}/nights.js", "compare.html", INDEX)

    def __init__(self, store: Store, site: SitePages, marks: Mapping[str, FileMark]) -> None:
        self.site = site
        self._summaries = store.runs()
        # One that began meanwhile has no page yet.
        ids = {head.id for head in site.heads}
        self.runs = {run.id: run for run in self._summaries if run.id in ids}
        self.counts = {run: dict(sorted(marks[run_file(run)].counts.items())) for run in self.runs}

    @property
    def fingerprint(self) -> str:
        """The digest of what the page is made of."""
        return fingerprint(
            "index", self.site.fingerprint, self._summaries, self.counts, self.site.cases
        )
