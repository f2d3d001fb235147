"""The JSON Schema of report definitions: kept in git, as new as the code, and true."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from railgauge.base.assets import folder
from railgauge.plan.yamlfile import load

_TABLE: dict[str, Any] = {
    "name": "t",
    "title": "T",
    "rows": ["link"],
    "cells": [{"metric": "throughput"}],
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((folder("schema") / "report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def _report(**table: object) -> dict[str, Any]:
    return {"railgauge_report": 1, "name": "r", "title": "R", "tables": [{**_TABLE, **table}]}


def test_every_shipped_definition_is_valid_by_the_schema(
    validator: jsonschema.Draft202012Validator,
) -> None:
    paths = sorted(folder("reports").glob("*.yaml"))
    assert paths
    for path in paths:
        validator.validate(load(path).data)


def test_comparisons_sorting_and_footnotes_are_valid(
    validator: jsonschema.Draft202012Validator,
) -> None:
    cell = {"metric": "throughput", "against": {"link": "a"}, "as": "change"}
    note = {"where": {"link": "b"}, "cell": "throughput", "text": "slow"}
    sort = {"by": "throughput", "descending": True}
    validator.validate(_report(cells=[cell], sort=sort, footnotes=[note]))


@pytest.mark.parametrize(
    "mistake",
    [
        {"rows": []},
        {"title": 3},
        {"colums": ["mode"]},
        {"name": "Table 1"},
        {"select": {"mode": {"a": "b"}}},
        {"cells": [{"metric": "throughput", "as": "quotient"}]},
        {"cells": [{"metric": "throughput", "digits": 13}]},
        {"footnotes": [{"where": {"link": "b"}}]},
    ],
)
def test_what_the_program_refuses_the_schema_refuses(
    validator: jsonschema.Draft202012Validator, mistake: dict[str, Any]
) -> None:
    validator.validate(_report())
    assert not validator.is_valid(_report(**mistake))
