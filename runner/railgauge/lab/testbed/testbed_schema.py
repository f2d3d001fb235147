"""Writes testbeds' JSON Schema: `python -m railgauge.lab.testbed.testbed_schema FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from railgauge.lab.testbed.testbed_model import Testbed
from railgauge.plan.schema_files import schema_text

NAME = "testbed.schema.json"


def schema_file() -> str:
    """Return the schema's text."""
    return schema_text(Testbed, "railgauge testbed")


if __name__ == "__main__":
    (Path(sys.argv[1]) / NAME).write_text(schema_file(), encoding="utf-8")
