"""Writes the JSON Schema: `python -m railgauge.report.definition.definition_schema FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from railgauge.plan.schema_files import schema_text
from railgauge.report.definition.definition_model import Spec

NAME = "report.schema.json"


def schema_file() -> str:
    """Return the schema's text."""
    return schema_text(Spec, "railgauge report definition")


if __name__ == "__main__":
    (Path(sys.argv[1]) / NAME).write_text(schema_file(), encoding="utf-8")
