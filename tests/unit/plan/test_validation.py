"""What pydantic finds wrong, in our words and with places."""

from typing import Annotated

import pytest
from pydantic import Field
from tests.support.problems import problems

from railgauge.plan.validation import Scalar, StrictModel, Version, validate
from railgauge.plan.yamlfile import loads


class Part(StrictModel):
    size: int = Field(ge=1, le=9)
    sender: str = Field(alias="from")


class Whole(StrictModel):
    version: Version
    parts: dict[str, Part] = Field(default={})
    more: list[Part] = Field(default=[])
    part: Part | None = Field(default=None, alias="one")
    names: Annotated[list[str], Field(min_length=1)] | None = None
    value: Scalar = 0
    flag: bool = False


def mistakes(text: str) -> list[str]:
    return problems(validate, loads(text, "f"), Whole)


def test_a_sound_document_becomes_the_model() -> None:
    whole = validate(loads("version: 1\nmore: [{size: 3, from: a}]\n", "f"), Whole)
    assert whole.more == [Part.model_validate({"size": 3, "from": "a"})]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("vers: 1", "f:2:1: unknown key 'vers': did you mean 'version'?"),
        ("qqq: 1", "f:2:1: unknown key 'qqq': known here are flag, more, names, one, parts, value"),
        (
            "parts: {a: {size: 1, from: x, sise: 2}}",
            "f:2:31: unknown key 'sise': did you mean 'size'",
        ),
        ("more: [{size: 1, frm: x}]", "f:2:18: unknown key 'frm': did you mean 'from'?"),
        ("one: {sizes: 1}", "f:2:7: unknown key 'sizes': did you mean 'size'?"),
        ("one: {size: 1}", "f:2:6: the key 'from' is missing here: add it"),
        ("one: {size: 0, from: a}", "f:2:13: 'size' is the number 0, but a number of at least 1"),
        ("one: {size: 1.5, from: a}", "f:2:13: 'size' is the number 1.5, but a whole number"),
        ("one: {size: true, from: a}", "f:2:13: 'size' is the truth value true, but a whole"),
        ("one: {size: 1, from: 5}", "f:2:22: 'from' is the number 5, but text is wanted"),
        ("one: [1]", "f:2:6: 'one' is a list, but a mapping is wanted: write {key: value}"),
        ("more: {a: 1}", "f:2:7: 'more' is a mapping, but a list is wanted: write [a, b]"),
        ("more: [5]", "f:2:8: this item is the number 5, but a mapping is wanted"),
        ("names: []", "f:2:8: 'names' is a list of 0, but one of at least 1 is wanted"),
        ("names:", "f:2:7: 'names' has no value: write one or drop it"),
        ("value: [1]", "f:2:8: 'value': a list stands where a single value is wanted"),
        ("flag: yes", "f:2:7: 'flag' is the text 'yes', but true or false is wanted"),
    ],
)
def test_a_mistake_is_told_in_plain_english_with_its_place(line: str, says: str) -> None:
    messages = mistakes(f"version: 1\n{line}\n")
    assert any(message.startswith(says) for message in messages), messages


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    messages = mistakes('version: "1"\nflag: 1\nparts: 5\n')
    assert [line.split(":")[1] for line in messages] == ["1", "2", "3"]


def test_a_version_that_is_true_is_not_one() -> None:
    assert mistakes("version: true\n")[0].startswith(
        "f:1:10: 'version': the truth value true stands where 1 is wanted"
    )
