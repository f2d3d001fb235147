"""Makes a page: reads what it shows, renders and writes it. What is needed often is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

from railgauge.base.errors import EnvironmentFailedError
from railgauge.compare.case_lookup import plan_case_names
from railgauge.compare.reading import ReadRuns, read, together
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue import Catalogue, load_catalogue
from railgauge.plan.catalogue.headlines import shown_or_judged
from railgauge.report.document.render import render_case
from railgauge.report.figures.gnuplot import find_gnuplot
from railgauge.report.pages.case.case_pages import CaseLink, case_links, case_pages
from railgauge.report.pages.case.paged_cases import paged_cases
from railgauge.report.pages.case.timeplot import draw_timelines
from railgauge.report.site.case_page import CasePages
from railgauge.report.site.folder import Folder
from railgauge.report.site.index_job import IndexJob
from railgauge.report.site.index_page import Index
from railgauge.report.site.mark import FileMark
from railgauge.report.site.run_page import run_page
from railgauge.report.site.site_pages import (
    CaseJob,
    Job,
    LogJob,
    RunJob,
    data_file,
    log_stem,
    part_file,
)
from railgauge.report.site.site_templates import (
    render_case_page,
    render_comparison,
    render_index,
    render_run,
)
from railgauge.store import Store

# The runs of a baseline, and one or two more.
_RUNS_KEPT = 12


class Maker:
    """Makes the pages of a site, one after the other."""

    def __init__(self, store: Store, folder: Folder) -> None:
        self._store, self._folder = store, folder
        # The next run is compared with the same runs.
        self._read_run = lru_cache(_RUNS_KEPT)(lambda run: read(store, [run]))
        self._links: dict[int, dict[tuple[str, str], CaseLink]] = {}

    def make(self, job: Job) -> FileMark:
        """Make a page and return its mark."""
        counts: dict[str, int] = {}
        files: dict[str, str] = {}
        match job:
            case RunJob():
                reading = self._reading([*(job.against.runs if job.against else ()), job.run])
                page, data, counts = run_page(
                    self._store, reading, job, self._catalogue, self._plan_names(job.head.plan)
                )
                for number, part in enumerate(data.parts(job.parts)):
                    files[part_file(job.run, number)] = part.text()
                files[data_file(job.run)] = data.text()
                files[job.name] = render_run(page)
            case CaseJob():
                files[job.name] = render_case_page(self._cases.page(job))
            case LogJob():
                files = self._logs(job)
        mark = FileMark(job.fingerprint, counts)
        self._folder.write(files, mark)
        return mark

    def make_index(self, job: IndexJob) -> None:
        """Make the first page."""
        index = Index(self._store, job, self._folder)
        page = index.page(self._names)
        texts = (index.data(page), render_comparison(), render_index(page))
        self._folder.write(dict(zip(job.files, texts, strict=True)), FileMark(job.fingerprint))

    @cached_property
    def _catalogue(self) -> Catalogue:
        return load_catalogue()

    @cached_property
    def _names(self) -> Mapping[str, CaseNames]:
        return plan_case_names(self._store, self._catalogue)

    def _plan_names(self, plan: str) -> CaseNames:
        # A plan without a case has none.
        return self._names.get(plan) or CaseNames((), self._catalogue)

    @cached_property
    def _cases(self) -> CasePages:
        return CasePages(self._store, self._catalogue, self._names)

    def _reading(self, runs: Sequence[int]) -> ReadRuns:
        reading = together(self._store, map(self._read_run, runs))
        # What is compared of a case without any headline metric depends on all the runs.
        cases = (metrics for run in runs for metrics in reading.series[run].values())
        if all(name in shown_or_judged() for metrics in cases for name in metrics):
            return reading
        return read(self._store, runs)

    def _logs(self, job: LogJob) -> dict[str, str]:
        run = self._store.run(job.run)
        if job.run not in self._links:
            cases, _ = paged_cases(self._store, [job.run])
            links = case_links(self._store, [run], self._catalogue, cases)
            self._links = {job.run: {(link.test, link.case.key): link for link in links}}
        name = log_stem(job.run, job.test, job.key)
        link = replace(self._links[job.run][job.test, job.key], name=name)
        (page,) = case_pages(self._store, [run], [link], self._catalogue)
        files: dict[str, str] = {}
        plot, undrawn = None, ""
        if page.timelines:
            try:
                plot = draw_timelines(find_gnuplot(), name, page.title, page.timelines)
            except EnvironmentFailedError as error:
                undrawn = f"Without figures over time: {error}."
            else:
                folder = job.name.rpartition("/")[0]
                files[f"{folder}/{name}.plot"] = plot.plot
                files[f"{folder}/{name}.dat"] = plot.dat
        # After the files that it names.
        files[job.name] = render_case(page, "All runs", plot, undrawn)
        return files
