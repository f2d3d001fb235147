"""Writes the JSON Schemas of the files that people write, for editors that complete and check them.

`python -m railgauge.plan.schema_files FOLDER` writes them all; in the checkout FOLDER is `schema`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from railgauge.plan.catalogue.external_model import ExternalEngine
from railgauge.plan.model import HostsFile, Plan
from railgauge.plan.validation import StrictModel

_MODELS: dict[str, tuple[type[StrictModel], str]] = {
    "plan.schema.json": (Plan, "railgauge plan"),
    "hosts.schema.json": (HostsFile, "railgauge hosts file"),
    "external_engine.schema.json": (ExternalEngine, "railgauge external engine"),
}


def schema_files() -> dict[str, str]:
    """Return each schema's file name and text."""
    return {name: schema_text(model, title) for name, (model, title) in _MODELS.items()}


def schema_text(model: type[StrictModel], title: str) -> str:
    """Return the JSON Schema of `model`'s files."""
    schema = model.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = title
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def write_schema_files(folder: Path) -> None:
    """Write the schemas into `folder`, which has to be there."""
    for name, text in schema_files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_schema_files(Path(sys.argv[1]))
