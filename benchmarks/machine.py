"""What benchmarks need of this machine: programs that not every machine has, and our engines."""

from __future__ import annotations

import sys
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError
from railgauge.engine.deploy import bundle, deploy
from railgauge.hosts.transport.local import LocalTransport

# The exit status of a benchmark that can't be run here; automake's tests have the same.
LACKING = 77


def need(condition: object, what: str) -> None:
    """End with LACKING, saying what this machine lacks, unless `condition` holds."""
    if not condition:
        print(f"needs {what}", file=sys.stderr)
        sys.exit(LACKING)


def engines() -> Path:
    """Return the folder of our engines, built as for a run, where they are kept from run to run."""
    transport = LocalTransport("localhost")
    try:
        return Path(deploy(transport, bundle()))
    except EnvironmentFailedError as error:
        sys.exit(str(error))
    finally:
        transport.close()
