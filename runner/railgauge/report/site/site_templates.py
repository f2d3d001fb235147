"""A site's pages through the templates."""

from __future__ import annotations

from railgauge.report.document.render import page_from, picture
from railgauge.report.site import changes_page, index_page, run_page
from railgauge.report.site.case_page import CaseHistoryPage
from railgauge.report.site.changes_page import ChangesPage
from railgauge.report.site.index_page import IndexPage
from railgauge.report.site.linked_cells import rows
from railgauge.report.site.run_page import RunPage


def render_index(page: IndexPage) -> str:
    """Return the first page."""
    columns = {"run_columns": index_page.RUN_COLUMNS, "case_columns": index_page.CASE_COLUMNS}
    return page_from("site_index.html.j2", page=page, cells=rows, **columns)


def render_changes(page: ChangesPage) -> str:
    """Return the page of the cases that changed."""
    return page_from("site_changes.html.j2", page=page, cells=rows, columns=changes_page.COLUMNS)


def render_run(page: RunPage) -> str:
    """Return the page of a run."""
    columns = run_page.COMPARED if page.judged else run_page.ALONE
    return page_from("site_run.html.j2", page=page, cells=rows, columns=columns)


def render_case_page(page: CaseHistoryPage) -> str:
    """Return the page of a case."""
    pictures = {}
    for place, history in enumerate(page.places):
        for number, metric in enumerate(history.metrics):
            if metric.svg:
                name = f"history-{place}-{number}"
                pictures[place, number] = picture(
                    metric.svg, name, metric.title, f"{metric.span}. {metric.summary}"
                )
    return page_from("site_case.html.j2", page=page, cells=rows, pictures=pictures)
