"""Series as the store gives them, for the tests of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from railgauge.cases import Case, Value, case_key
from railgauge.store.records import Series


def series(
    values: Sequence[float],
    parameters: Mapping[str, Value] | None = None,
    *,
    metric: str = "throughput",
    unit: str = "bit/s",
    engine: str = "udp",
    link: str = "gw→hh",
    client: str = "gw1",
    server: str | None = "hh1",
    run: int = 1,
    plan: str = "fabric",
    test: str = "stream",
    suspect: Sequence[int] = (),
    failed: int = 0,
    asked: int | None = None,
) -> Series:
    """`suspect` are places in `values`; `asked` is as many as there are values and failures."""
    parameters = {"mode": "stream", "datagram": 1460} if parameters is None else parameters
    marks = np.zeros(len(values), dtype=np.bool_)
    marks[list(suspect)] = True
    return Series(
        run=run,
        plan=plan,
        test=test,
        case=Case(
            case_key(engine, link, client, server, parameters),
            engine,
            link,
            client,
            server,
            parameters,
        ),
        metric=metric,
        unit=unit,
        better="higher",
        values=np.array(values, dtype=np.float64),
        suspect=marks,
        failed=failed,
        asked=len(values) + failed if asked is None else asked,
    )
