"""A site's pages through the templates."""

from __future__ import annotations

from railgauge.report.document.render import page_from
from railgauge.report.site import index_page, level_changes
from railgauge.report.site.case_page import CaseHistoryPage
from railgauge.report.site.index_page import IndexPage
from railgauge.report.site.linked_cells import rows
from railgauge.report.site.run_page import RunPage


def render_index(page: IndexPage) -> str:
    """Return the first page."""
    columns = {
        "slower_columns": index_page.CHANGED_COLUMNS,
        "change_columns": level_changes.COLUMNS,
        "run_columns": index_page.RUN_COLUMNS,
        "case_columns": index_page.CASE_COLUMNS,
    }
    return page_from("site_index.html.j2", page=page, cells=rows, **columns)


def render_run(page: RunPage) -> str:
    """Return the page of a run."""
    return page_from("site_run.html.j2", page=page, cells=rows)


def render_case_page(page: CaseHistoryPage) -> str:
    """Return the page of a case."""
    return page_from("site_case.html.j2", page=page)


def render_comparison() -> str:
    """Return the page that puts two runs side by side."""
    return page_from("site_compare.html.j2")
