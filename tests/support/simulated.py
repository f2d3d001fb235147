"""A host that isn't there, with an engine on it that measures nothing in no time.

For trying the runner's own work at the size of a large cluster: what it reads, schedules and stores
is real, the numbers are not: each is 1, a share a half, as which those of streams contradict one
another, so that its mode has to be latency. No plan can ask for it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from railgauge.hosts.transport.fake import LINE, LOSS, FakeProcess, FakeTransport, Program
from railgauge.plan.catalogue import EngineInfo

_PORT = 4711


class SimulatedTransport(FakeTransport):
    """A host that has `engine` alone. It is lost when its `dies_at`-th program (from 1) is at work.

    Unlike its parent it forgets what it started: there are hundreds of thousands.
    """

    def __init__(self, host: str, engine: EngineInfo, *, dies_at: int | None = None) -> None:
        super().__init__(host, {f"rail-{engine.name}": self.play})
        self._engine = engine
        self._dies_at = dies_at
        self._count = itertools.count(1)

    def start(self, argv: Sequence[str]) -> FakeProcess:
        """See `Transport.start`."""
        process = super().start(argv)
        self.started.clear()
        return process

    def play(self, argv: Sequence[str]) -> Program:
        """Be the engine: its server, or its client, which is as good as it gets."""
        dies = next(self._count) == self._dies_at
        return self._serve(dies) if argv[1] == "server" else self._measure(argv, dies)

    def _serve(self, dies: bool) -> Program:
        yield self._event("listening", port=_PORT)
        if dies:
            yield LOSS
        while (yield LINE) is not None:
            pass
        return 0

    def _measure(self, argv: Sequence[str], dies: bool) -> Program:
        options = dict(word[2:].split("=", 1) for word in argv if "=" in word)
        mode, count = options.get("mode"), int(options["replications"])
        metrics = {
            metric.name: 0.5 if metric.kind == "share" else 1.0
            for metric in self._engine.metrics_in(mode)
            if not metric.optional
        }
        yield self._event("settings", parameters={}, client={}, server={})
        if dies:
            yield LOSS
        for number in range(1, count + 1):
            yield json.dumps(
                {
                    "event": "replication",
                    "replication": number,
                    "warmup": False,
                    "started_at": 0.0,
                    "metrics": metrics,
                }
            )
        yield json.dumps({"event": "done", "replications": count})
        return 0

    def _event(self, event: str, **fields: object) -> str:
        engine = {"engine": self._engine.name, "version": self._engine.version}
        return json.dumps({"event": event, **engine, **fields})
