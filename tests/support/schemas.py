"""Writes the schemas that are kept: `python -m tests.support.schemas FOLDER`, for `make schema`.

JSON Schemas of the files that people write, for editors that complete and check them, and the
database's tables as SQL.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

from sqlalchemy import create_engine
from tests.support.engine_schema import add_engines

from railgauge.lab.testbed.testbed_model import Testbed
from railgauge.plan.catalogue import load_catalogue
from railgauge.plan.catalogue.external_model import ExternalEngine
from railgauge.plan.model import HostsFile, Plan
from railgauge.plan.validation import StrictModel
from railgauge.report.definition.definition_model import Spec
from railgauge.report.paper.paper_model import Paper
from railgauge.store.migrate import NEWEST, run_migrations

_MODELS: dict[str, tuple[type[StrictModel], str]] = {
    "plan.schema.json": (Plan, "railgauge plan"),
    "hosts.schema.json": (HostsFile, "railgauge hosts file"),
    "external_engine.schema.json": (ExternalEngine, "railgauge external engine"),
    "testbed.schema.json": (Testbed, "railgauge testbed"),
    "report.schema.json": (Spec, "railgauge report definition"),
    "paper.schema.json": (Paper, "railgauge paper definition"),
}
NAMES = (*_MODELS, NEWEST)


def schema_file(name: str) -> str:
    """Return the text of the schema that is kept under this name."""
    if name == NEWEST:
        return _tables()
    model, title = _MODELS[name]
    schema = model.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = f"urn:railgauge:{name}"
    schema["title"] = title
    if model is Plan:
        add_engines(schema, load_catalogue())
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _tables() -> str:
    """Return, as SQL, what the migrations make of an empty database."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        run_migrations(connection)
        connection.commit()
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        statements = [
            text for text in driver.iterdump() if not text.startswith(("BEGIN", "COMMIT", "DELETE"))
        ]
    engine.dispose()
    return "\n".join(statements) + "\n"


if __name__ == "__main__":
    for schema_name in NAMES:
        (Path(sys.argv[1]) / schema_name).write_text(schema_file(schema_name), encoding="utf-8")
