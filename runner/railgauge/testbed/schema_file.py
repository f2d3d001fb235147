"""Writes the JSON Schema of testbeds' files: `python -m railgauge.testbed.schema_file FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from railgauge.plan.schema_files import schema_text
from railgauge.testbed.model import Testbed

NAME = "testbed.schema.json"


def schema_file() -> str:
    """Return the schema's text."""
    return schema_text(Testbed, "railgauge testbed")


if __name__ == "__main__":
    (Path(sys.argv[1]) / NAME).write_text(schema_file(), encoding="utf-8")
