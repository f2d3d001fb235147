"""Builds a site: makes the pages that aren't as they would be now, removes those of nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from railgauge.base.errors import EnvironmentFailedError
from railgauge.report.site.folder import Folder
from railgauge.report.site.index_job import IndexJob
from railgauge.report.site.made_by import made_by
from railgauge.report.site.mark import FileMark
from railgauge.report.site.site_pages import Job, LogJob, RunJob, data_file, part_file, plan_site
from railgauge.store import Store
from railgauge.store.records import StoredRun

if TYPE_CHECKING:
    from railgauge.report.site.make import Maker

# Fewer pages than this are made sooner than another process has begun.
_LEAST_FOR_SEVERAL = 24
# The runs of a baseline and a few more: those of a large cluster take megabytes.
_RUNS_KEPT = 8
# Neighbours share what they read, but all processes should end at about the same time.
_IN_A_BATCH = 8


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome of a build: the `pages` that it made, how many were `unchanged` or `removed`."""

    pages: tuple[str, ...]
    unchanged: int
    removed: int


class KeptStore(Store):
    """A store that remembers the last runs it has read, to whom later changes don't matter."""

    def run(self, run_id: int) -> StoredRun:
        """Return all about one run but its values."""
        return self._cached_run(run_id)

    @cached_property
    def _cached_run(self) -> Callable[[int], StoredRun]:
        return lru_cache(_RUNS_KEPT)(super().run)


def build_site(
    where: str,
    out: Path,
    *,
    baseline: str | None = None,
    logs: int = 1,
    waiting: Callable[[], None] = lambda: None,
    making: Callable[[int], None] = lambda _: None,
) -> Built:
    """Make the site of the database at `where` in the folder `out`, which is made if missing.

    Runs are compared with `baseline`, if it is of their plan (see `against`); of each plan the
    newest `logs` runs have pages with system logs. `waiting` is called when another build has the
    folder, before this one waits for it, `making` with how many pages, where making them takes
    long. InputError for a database or baseline that isn't there,
    or a file that is none of the site's where a page has to be; EnvironmentFailedError when the
    folder can't be written to. Whatever ends a build, its pages are whole and the next goes on.
    """
    with KeptStore.open(where, create=False) as store:
        folder = Folder(out)
        maker = made_by()
        if baseline is not None:
            # Before a folder is made.
            store.baseline(baseline)
        with folder.locked(waiting):
            site = plan_site(store, maker, baseline, logs)
            own_marks = folder.marks()
            names = [name for job in site.jobs for name in _files(job)]
            folder.refuse_foreign([*names, *IndexJob.files], own_marks)
            due_jobs = _due(site.jobs, own_marks)
            if len(due_jobs) >= _LEAST_FOR_SEVERAL:
                making(len(due_jobs))
            new_maker = cache(partial(_new_maker, store, folder))
            marks = own_marks | _make(due_jobs, where, folder, new_maker)
            index = IndexJob(store, site, marks)
            made_pages = [job.name for job in due_jobs]
            if any(marks.get(name) != FileMark(index.fingerprint) for name in index.files):
                new_maker().make_index(index)
                made_pages.append(index.name)
            # Last: while pages are made, what links to them may still show the others.
            removed = folder.sweep({*names, *index.files}, own_marks)
    return Built(tuple(made_pages), len(site.jobs) + 1 - len(made_pages), removed)


def _due(jobs: Sequence[Job], marks: Mapping[str, FileMark]) -> list[Job]:
    """Return the jobs whose files aren't there, or were made of something else."""
    fingerprints = {name: mark.fingerprint for name, mark in marks.items()}
    return [
        job
        for job in jobs
        if {fingerprints.get(name) for name in _needed(job)} != {job.fingerprint}
    ]


def _files(job: Job) -> Iterator[str]:
    """Yield the names of all files that a page may have beside it, and its own."""
    if isinstance(job, LogJob):
        stem = job.name.removesuffix(".html")
        yield from (f"{stem}.plot", f"{stem}.dat")
    yield from _needed(job)


def _needed(job: Job) -> Iterator[str]:
    """Yield the names of the files that a page has in any case."""
    if isinstance(job, RunJob):
        yield from (part_file(job.run, part) for part in range(job.parts))
        yield data_file(job.run)
    yield job.name


def _make(
    jobs: Sequence[Job], where: str, folder: Folder, new_maker: Callable[[], Maker]
) -> dict[str, FileMark]:
    """Make the pages, in as many processes as there are CPUs for them; return their marks."""
    processes = min(len(os.sched_getaffinity(0)), len(jobs) // _LEAST_FOR_SEVERAL)
    if not jobs:
        return {}
    if processes < 2:
        maker = new_maker()
        return {job.name: maker.make(job) for job in jobs}
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    marks: dict[str, FileMark] = {}
    # Spawned: a fork would share the database's connection.
    workers = ProcessPoolExecutor(
        processes, get_context("spawn"), _start_worker, (where, folder.path)
    )
    try:
        futures = [workers.submit(_make_batch, batch) for batch in _batches(jobs)]
        for future in as_completed(futures):
            marks |= future.result()
    except BrokenProcessPool as error:
        raise EnvironmentFailedError(
            "a process that made pages was ended by somebody, or for want of memory: the pages so"
            " far are kept; the same command goes on"
        ) from error
    finally:
        workers.shutdown(wait=True, cancel_futures=True)
    return marks


def _new_maker(store: Store, folder: Folder) -> Maker:
    # Imported here: who finds every page as it would be made needs none of the analysis.
    from railgauge.report.site.make import Maker

    return Maker(store, folder)


def _batches(jobs: Sequence[Job]) -> Iterator[Sequence[Job]]:
    """Yield the jobs, pages of one kind together, the longest ones alone and first."""
    first = [job for job in jobs if not isinstance(job, RunJob)]
    last = [job for job in jobs if isinstance(job, RunJob)]
    for kind in (first[:1], first[1:], last):
        yield from (kind[start : start + _IN_A_BATCH] for start in range(0, len(kind), _IN_A_BATCH))


_maker: Maker | None = None


def _start_worker(where: str, out: Path) -> None:
    """Begin a process that makes pages: it ends with the one that began it, however that does."""
    global _maker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _maker = _new_maker(KeptStore.open(where, create=False, check=False), Folder(out))


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make_batch(jobs: Sequence[Job]) -> dict[str, FileMark]:
    assert _maker is not None  # the process began with one
    return {job.name: _maker.make(job) for job in jobs}
