"""The strict YAML loader: what it reads, and each mistake with its line and column."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.problems import problems

from railgauge.base.errors import FileProblems
from railgauge.plan.yamlfile import load, loads


def mistakes(text: str) -> list[str]:
    return problems(loads, text, "p.yaml")


def file_mistake(path: Path) -> str:
    (problem,) = problems(load, path)
    return problem.removeprefix(f"{path.parent}/")


def test_only_core_words_and_numbers_are_more_than_text() -> None:
    text = """
    off: off
    on: [on, yes, No, True, NULL, 10:30, 2026-11-21, 1_000, 017]
    not: [.inf, .nan, 1e999, 0o17]
    words: [true, false, null, ~]
    numbers: [0, -5, +7, 0x1F, 1.5, .5, 1e3, -2.5E-3]
    quoted: ["5", 'true']
    """
    assert loads(text, "p.yaml").data == {
        "off": "off",
        "on": ["on", "yes", "No", "True", "NULL", "10:30", "2026-11-21", "1_000", "017"],
        "not": [".inf", ".nan", "1e999", "0o17"],
        "words": [True, False, None, None],
        "numbers": [0, -5, 7, 31, 1.5, 0.5, 1000.0, -0.0025],
        "quoted": ["5", "true"],
    }


def test_every_value_and_key_knows_where_it_stands() -> None:
    document = loads("a:\n  - x: 1\n    y: [2, 3]\n", "p.yaml")
    assert str(document.problem(["a", 0, "y", 1], "here")) == "p.yaml:3:12: here"
    assert str(document.problem(["a", 0, "y"], "here", key=True)) == "p.yaml:3:5: here"
    assert str(document.problem(["a", 0, "z", 7], "here")) == "p.yaml:2:5: here"


def test_all_duplicate_keys_are_told_with_the_first_ones_line() -> None:
    document = loads("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n", "p.yaml")
    assert [str(mistake.problem) for mistake in document.mistakes] == [
        "p.yaml:4:3: key 'c' is already on line 3: keep one of the two",
        "p.yaml:5:1: key 'a' is already on line 1: keep one of the two",
    ]
    assert document.data == {"a": 1, "b": {"c": 1}}
    assert mistakes("a: 1\na: 2\nb: [")[0].startswith("p.yaml:2:1: key 'a'")


def test_aliases_share_a_value() -> None:
    assert loads("a: &x [1, 2]\nb: *x\n", "p.yaml").data == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_bomb_is_defused() -> None:
    lines = ["a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"]
    for level in range(1, 12):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    (message,) = mistakes("\n".join(lines))
    assert message.startswith("p.yaml:5:5: more than 1,000,000 values with its aliases written out")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &x [1, *x]\n", "p.yaml:1:11: alias *x stands inside what it stands for"),
        ("a: *x\n", "p.yaml:1:4: alias *x has no anchor &x before it"),
        ("a: !!python/object:os.system x\n", "p.yaml:1:4: tags such as"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "p.yaml:3:3: merge keys ('<<') are not allowed"),
        ("a: 1\n5: 2\n", 'p.yaml:2:1: a key is text: write "5", in quotes'),
        ("[a, b]: 2\n", "p.yaml:1:1: a key is text, not a list"),
        ("a: 1\n---\nb: 2\n", "p.yaml:2:1: a second document begins"),
        ("- a\n- b\n", "p.yaml:1:1: the file must consist of keys"),
        ("", "p.yaml:1:1: the file is empty"),
        ("# nothing\n\n", "p.yaml:1:1: the file is empty"),
        ("---\n", "p.yaml:1:1: the file is empty"),
        ("a:\n\t- b\n", "p.yaml:2:1: this line has a tab: write spaces"),
        ("a:\t1\nb:\t2\nc:\t3\n", "p.yaml:1:3: this line has a tab (so do 2 more lines)"),
        ("a: b\n  \x00c\n", "p.yaml:2:3: character U+0000 is not text"),
        ('a: "x\\0y"\n', "p.yaml:1:4: an escape stands for no character"),
        ('a: "\\ud800"\n', "p.yaml:1:4: an escape stands for no character"),
        ("a: b: c\n", "p.yaml:1:5: a ':' can't stand here"),
        ("a:\n  - b\n c: d\n", "p.yaml:3:2: this does not fit the lines above"),
        ("x: 1\na: 'b\n", "p.yaml:2:4: this quote is never closed"),
        ("a: [1, 2\n", "p.yaml:1:4: this '[' is not closed"),
        ("a: {b: 1\n", "p.yaml:1:4: this '{' is not closed"),
        ("a: @b\n", "p.yaml:1:4: text can't begin with this character"),
        ("a: " + "[" * 200, "p.yaml:1:103: more than 100 levels deep"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, says: str) -> None:
    (message,) = mistakes(text)
    assert message.startswith(says)


def test_duplicates_before_a_syntax_mistake_are_told_with_it() -> None:
    assert [line.split(": ")[0] for line in mistakes("a: 1\na: 2\nb: c: d\n")] == [
        "p.yaml:2:1",
        "p.yaml:3:5",
    ]


def test_files_that_are_not_utf8_are_told_with_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"name: x\ndescription: caf\xe9\n")
    assert file_mistake(path) == (
        "latin.yaml:2:17: byte 0xe9 (number 25) is not UTF-8: save the file as UTF-8 text"
    )


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "mark.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert load(path).data == {"a": 1}
    path.write_bytes(b"\xef\xbb\xbfa: \xff\n")
    assert file_mistake(path).startswith("mark.yaml:1:4: byte 0xff (number 7)")


def test_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"a: \x7fELF\x00\x01")
    assert (
        file_mistake(path)
        == "binary.yaml:1:4: character U+007F is not text: is this a binary file?"
    )


def test_paths_that_are_no_files_are_refused(tmp_path: Path) -> None:
    assert file_mistake(tmp_path / "none.yaml").startswith(
        "none.yaml:1:1: this file does not exist"
    )
    (tmp_path / "folder.yaml").mkdir()
    assert file_mistake(tmp_path / "folder.yaml").startswith(
        "folder.yaml:1:1: this file is a folder"
    )
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "is not an ordinary file" in file_mistake(tmp_path / "pipe.yaml")
    assert "can't be read" in file_mistake(tmp_path / ("long" * 200))


def test_files_beyond_all_measure_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(9 * 1024**2)
    assert file_mistake(path) == "huge.yaml:1:1: more than 8 MiB: split the file"


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#,? \n<~1.\\", max_size=60))
def test_any_text_is_read_or_refused_with_places(text: str) -> None:
    try:
        assert isinstance(loads(text, "p.yaml").data, dict)
    except FileProblems as error:
        lines = text.count("\n") + 2
        assert all(1 <= problem.line <= lines and problem.column >= 1 for problem in error.problems)
