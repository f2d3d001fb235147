"""Templates are compiled one at a time, whichever threads ask for them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jinja2
import pytest

from railgauge.report.formats.templates import environment


def test_two_threads_compile_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python before 3.11.5 two that parse numbers at once may fail."""
    parsing = threading.Semaphore()
    alone: list[bool] = []

    def parse(*arguments: object, original: object = jinja2.Environment._parse) -> object:
        alone.append(parsing.acquire(blocking=False))
        time.sleep(0.05)
        try:
            return original(*arguments)  # type: ignore[operator]
        finally:
            if alone[-1]:
                parsing.release()

    monkeypatch.setattr(jinja2.Environment, "_parse", parse)
    environments = [environment("html") for _ in range(3)]
    with ThreadPoolExecutor(len(environments)) as threads:
        loading = [threads.submit(html.get_template, "head.html.j2") for html in environments]
        for template in loading:
            template.result()
    assert alone == [True] * len(environments)
