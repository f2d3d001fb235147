"""A run as it comes along, for programs: a JSON object a line (schema/run_event.schema.json)."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from typing import TextIO

from railgauge.engine.outcome import Launch, Outcome
from railgauge.plan.schedule import Dispatch
from railgauge.run.execution import Observer, Outlook
from railgauge.run.job import Finished


class EventLines(Observer):
    """See `Observer`: the first line gives the run's number, which all the others have as well."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._run: int | None = None

    def begin(self, outlook: Outlook) -> None:
        """Write the run's number."""
        self._run = outlook.run
        self._write("run", replications=outlook.total)

    def dispatched(self, dispatch: Dispatch) -> None:
        """Write which case begins, of a group's pairs each."""
        for case in dispatch.cases:
            self._write(
                "case",
                test=dispatch.test,
                engine=case.engine,
                link=case.link,
                case_key=case.key,
                parameters=dict(case.parameters),
            )

    def measured(self, dispatch: Dispatch, outcome: Outcome, launch: Launch) -> None:
        """Write what a replication came to, of a group's pairs each."""
        error = None
        if outcome.status == "failed":
            error = {"code": outcome.error_code, "message": outcome.error_message}
        for case in dispatch.cases:
            pair = (case.client, case.server or "")
            metrics = outcome.pairs.get(pair, {}) if dispatch.pairs else outcome.metrics
            self._write(
                "replication",
                test=dispatch.test,
                link=case.link,
                case_key=case.key,
                replication=outcome.replication,
                warmup=outcome.warmup,
                status=outcome.status,
                metrics=dict(metrics),
                error=error,
                suspicions=[asdict(suspicion) for suspicion in outcome.suspicions],
                warnings=list(launch.warnings),
            )

    def remaining(self, total: int, still_open: int) -> None:
        """Write how much there is left at most."""
        self._write("remaining", replications=total, open_cases=still_open)

    def lost(self, host: str, reason: str) -> None:
        """Write which host is gone."""
        self._write("lost", host=host, reason=reason)

    def finished(self, finished: Finished, exit_code: int) -> None:
        """Write what came of the run: the last line."""
        self._run = finished.run
        self._write(
            "finished",
            measured=finished.measured,
            failed=finished.failed,
            missing=finished.missing,
            suspect=finished.suspect,
            skipped=list(finished.skipped),
            exit_code=exit_code,
        )

    def _write(self, event: str, **fields: object) -> None:
        line = json.dumps({"run": self._run, "event": event, **fields}, allow_nan=False)
        # Nobody who stops reading may end a measurement.
        with contextlib.suppress(OSError):
            print(line, file=self._stream, flush=True)
