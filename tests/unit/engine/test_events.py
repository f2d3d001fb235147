"""The engines' lines are read strictly: an event, or an error that shows the line."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from railgauge.base.assets import folder
from railgauge.base.errors import EngineError
from railgauge.engine.events import (
    Done,
    Event,
    Failed,
    Listening,
    Replicated,
    Settings,
    Traced,
    Warned,
    parse,
)

REPLICATION = {
    "event": "replication",
    "replication": 1,
    "warmup": False,
    "started_at": 1.5,
    "metrics": {"throughput": 2},
}
TRACE = {"event": "trace", "replication": 1, "part": 0, "data": "UkdUMQ=="}


def test_each_kind_of_event_is_read():
    lines: Mapping[str, Event] = {
        '{"event":"listening","engine":"udp","version":"1","port":7}': Listening("udp", "1", 7),
        '{"event":"settings","engine":"udp","version":"1","parameters":{"tos":8},"client":{}}': (
            Settings({"tos": 8}, {}, {})
        ),
        '{"event":"warning","code":"clamped","side":"server","message":"less"}': (
            Warned("clamped", "server", "less")
        ),
        json.dumps(TRACE): Traced(1, 0, b"RGT1"),
        json.dumps(REPLICATION): Replicated(1, False, 1.5, {"throughput": 2.0}, ""),
        '{"event":"error","code":"no-data","message":"none"}': Failed("no-data", "none", None),
        '{"event":"done","replications":3}': Done(3),
    }
    for line, event in lines.items():
        assert parse(line) == event


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        "[]",
        "null",
        "{}",
        '{"event":"dance"}',
        '{"event":["done"]}',
        '{"event":"done"}',
        '{"event":"done","replications":"3"}',
        '{"event":"done","replications":true}',
        '{"event":"done","replications":1,"more":2}',
        '{"event":"listening","engine":"udp","version":"1","port":null}',
        '{"event":"settings","engine":"udp","version":"1","parameters":{"a":[]},"client":{}}',
        '{"event":"settings","engine":"udp","version":"1","parameters":{},"client":{"a":1e999}}',
        "[" * 100_000,
    ],
)
def test_what_is_not_an_event_is_refused_with_the_line(line):
    with pytest.raises(EngineError) as caught:
        parse(line)
    assert caught.value.code == "contract"
    assert repr(line[:100])[1:-1] in str(caught.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", '"7"', "true", "null"])
def test_a_metric_that_is_no_finite_number_is_never_a_measurement(number):
    line = json.dumps(REPLICATION).replace('"throughput": 2', f'"throughput": {number}')
    with pytest.raises(EngineError, match="not an event"):
        parse(line)


@pytest.mark.parametrize(
    "change",
    [
        {"started_at": 1e18},
        {"warmup": True},
        {"replication": 0},
        {"replication": 1.5},
    ],
)
def test_a_replication_that_contradicts_itself_is_refused(change):
    with pytest.raises(EngineError, match="not an event"):
        parse(json.dumps(REPLICATION | change))


@pytest.mark.parametrize(
    "change",
    [
        {"data": ""},
        {"data": "UkdUMQ="},
        {"data": "UkdUMQ"},
        {"data": "UkdU\nMQ=="},
        {"data": "UkdUMQ==UkdUMQ=="},
        {"data": "UkdUMQ-_"},
        {"data": "π"},
        {"data": base64.b64encode(bytes(48_001)).decode()},
        {"data": ["UkdUMQ=="]},
        {"part": -1},
        {"part": "0"},
        {"replication": -1},
        {"replication": 1.0},
        {"warmup": False},
    ],
)
def test_a_trace_part_that_is_not_one_is_refused(change: dict[str, Any]):
    line = json.dumps(TRACE | change)
    with pytest.raises(EngineError, match="not an event"):
        parse(line)


def test_a_trace_part_may_have_48000_bytes():
    data = bytes(range(250)) * 192
    line = json.dumps(TRACE | {"data": base64.b64encode(data).decode()})
    assert parse(line) == Traced(1, 0, data)
    schema = json.loads((folder("schema") / "record.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(line))
