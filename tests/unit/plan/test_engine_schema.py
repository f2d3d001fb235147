"""A plan's JSON Schema knows the engines: what editors mark, and what they explain."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tests.support import ROOT

from railgauge.plan.yamlfile import load


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((ROOT / "schema" / "plan.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_shipped_plan_is_valid(validator: jsonschema.Draft202012Validator) -> None:
    for path in (ROOT / "plans").glob("*.yaml"):
        validator.validate(load(path).data)


@pytest.mark.parametrize(
    ("test", "marked"),
    [
        ({"engine": "udp", "set": {"datagram": 64, "sockbuf": "1MiB", "ip": 4}}, None),
        ({"engine": "fio", "set": {"mode": "read"}}, None),
        ({"engine": "udp", "grid": {"datagram": {"from": 1, "to": 64, "factor": 2}}}, None),
        ({"engine": "upd"}, "$.tests[0].engine"),
        ({"engine": "udp", "set": {"datagarm": 64}}, "$.tests[0].set"),
        ({"engine": "udp", "set": {"mode": "steam"}}, "$.tests[0].set.mode"),
        ({"engine": "udp", "set": {"threads": 65}}, "$.tests[0].set.threads"),
        ({"engine": "udp", "grid": {"datagarm": [64]}}, "$.tests[0].grid"),
        ({"engine": "udp", "grid": {"gro": [3]}}, "$.tests[0].grid.gro"),
        ({"engine": "udp", "zip": [{"datagarm": [64]}]}, "$.tests[0].zip[0]"),
        ({"engine": "udp", "exclude": [{"datagarm": 64}]}, "$.tests[0].exclude[0]"),
        ({"engine": "tcp", "set": {"datagram": 64}}, "$.tests[0].set"),
    ],
)
def test_engines_and_their_parameters_are_marked_where_they_are_wrong(
    validator: jsonschema.Draft202012Validator, test: dict[str, Any], marked: str | None
) -> None:
    plan = {"railgauge": 1, "name": "p", "tests": [{"name": "t", **test}]}
    places = {error.json_path for error in validator.iter_errors(plan)}
    assert places == ({marked} if marked else set())


def test_a_plan_with_descriptions_of_its_own_may_name_other_engines(
    validator: jsonschema.Draft202012Validator,
) -> None:
    test = {"name": "t", "engine": "ours", "set": {"any": 1}}
    validator.validate({"railgauge": 1, "name": "p", "engines": ["ours.yaml"], "tests": [test]})


def test_each_parameter_is_explained(validator: jsonschema.Draft202012Validator) -> None:
    udp = validator.schema["$defs"]["engine_udp"]  # type: ignore[index]
    for part in ("set", "grid"):
        assert "payload of each datagram" in udp[part]["properties"]["datagram"]["description"]
    assert "default 1460" in udp["set"]["properties"]["datagram"]["description"]
