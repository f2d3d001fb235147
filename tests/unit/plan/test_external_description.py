"""Descriptions of other people's programs: what they may say, and what is told of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.problems import problems

from railgauge.plan.catalogue import EngineInfo, load_catalogue

NET = """\
railgauge_engine: 1
name: toynet
summary: A toy with two ends
parameters:
  mode: {type: choice, choices: [send, receive], default: send, as: {receive: recv}}
  duration: {type: time, default: 5s, unit: s, whole: true}
  pause: {type: time, default: 2.9ms, unit: ms}
  rate: {type: rate, default: 0bit/s, unit: kbit/s, as: {0bit/s: ""}}
  reverse: {type: bool, default: false, as: {"true": --reverse, "false": ""}}
  precision: {type: choice, choices: [double]}
  threads: {type: int, default: 1, as: {"0": all}}
  more: {type: argv, default: -q}
server: [toynet, -s, -p, "{port}"]
client: [toynet, -c, "{server}", "{mode}", "-t{duration}", [-b, "{rate}"], ["{reverse}"], "{more}"]
env: {THREADS: "{threads}", PAUSE: "{pause}"}
metrics:
  throughput: {unit: bit/s, better: higher, json: {send: end.sent, receive: end.received}}
  copy: {unit: B/s, better: higher, regex: '([0-9.]+) (MB|GB)', times: {MB: 1e6, GB: 1e9}}
"""


def read(tmp_path: Path, text: str = NET) -> EngineInfo:
    path = tmp_path / "toy.yaml"
    path.write_text(text)
    (engine,) = (
        candidate
        for candidate in load_catalogue([path]).engines.values()
        if "toy" in candidate.name
    )
    return engine


def mistakes(tmp_path: Path, text: str) -> list[str]:
    return [problem.removeprefix(f"{tmp_path}/") for problem in problems(read, tmp_path, text)]


def test_values_are_written_as_the_program_takes_them(tmp_path: Path) -> None:
    engine = read(tmp_path)
    defaults = {name: parameter.default for name, parameter in engine.parameters.items()}
    values = {name: value for name, value in defaults.items() if value is not None}
    assert engine.argv(values, server="10.0.0.2", client="10.0.0.1", port="7") == [
        *("toynet", "-c", "10.0.0.2", "send", "-t5", "-q"),
    ]
    values |= {"mode": "receive", "rate": 1.5e6, "reverse": True, "threads": 0}
    assert engine.argv(values, server="10.0.0.2", client="10.0.0.1", port="7") == [
        *("toynet", "-c", "10.0.0.2", "recv", "-t5", "-b", "1500", "--reverse", "-q"),
    ]
    texts = engine.written(values)
    assert (texts["threads"], texts["pause"], texts["precision"]) == ("all", "2.9", "double")


def test_what_has_no_effect_in_a_mode_is_left_out_in_it(tmp_path: Path) -> None:
    text = NET.replace("as: {0bit/s: ", "modes: [send], as: {0bit/s: ")
    engine = read(tmp_path, text)
    values: dict[str, str | float] = {"rate": 1e6, "duration": 5.0, "reverse": False, "more": "-q"}
    for mode, arguments in (("send", ["send", "-t5", "-b", "1000"]), ("receive", ["recv", "-t5"])):
        argv = engine.argv({**values, "mode": mode}, server="10.0.0.2")
        assert argv == ["toynet", "-c", "10.0.0.2", *arguments, "-q"]


def test_a_value_that_the_program_cannot_be_told_is_refused(tmp_path: Path) -> None:
    duration = read(tmp_path).parameters["duration"]
    assert duration.parse("2min") == 120
    with pytest.raises(ValueError, match=r"1\.5s can't be used: .* a whole number of s is wanted"):
        duration.parse("1500ms")


def test_two_ends_measure_links_and_an_mpi_program_what_it_says(tmp_path: Path) -> None:
    assert read(tmp_path).measures(None) == "links"
    text = NET.replace("server: [toynet, -s", "# [").replace("client: [toynet, -c, ", "command: [")
    text = text.replace('"{server}", ', "")
    for place in ("hosts", "links", "groups"):
        engine = read(tmp_path, f"{text}mpi: {place}\n")
        assert engine.parallel
        assert engine.measures(None) == place


def test_programs_are_the_commands_first_words_if_nothing_else_is_said(tmp_path: Path) -> None:
    engine = read(tmp_path)
    assert engine.program is not None
    assert engine.program.needs == ("toynet",)
    named = read(tmp_path, NET + "program: [one, two]\n").program
    assert named is not None
    assert named.needs == ("one", "two")
    # What a user's command line begins with isn't known before.
    command = load_catalogue().engine("command").program
    assert command is not None
    assert command.needs == ()


def test_a_description_says_what_its_metrics_are_or_has_it_from_ours(tmp_path: Path) -> None:
    metrics = """\
  laps: {unit: "", better: higher, kind: count, json: laps}
  packets_per_run: {unit: "", better: lower, json: p}
  lost_packets: {unit: "", better: lower, json: l}
  retransmits: {unit: "", better: lower, kind: ratio, json: r}
"""
    kinds = {name: metric.kind for name, metric in read(tmp_path, NET + metrics).metrics.items()}
    assert kinds == {
        "throughput": "rate",
        "copy": "",
        "laps": "count",
        "packets_per_run": "",
        "lost_packets": "count",
        "retransmits": "ratio",
    }


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("unit: s,", "unit: sec,", "toy.yaml:6:45: 'sec' is no unit of a time: known are"),
        ("unit: s,", "unit: B,", "toy.yaml:6:45: 'B' is no unit of a time"),
        ("default: 5s", "default: 1.5s", "toy.yaml:6:35: 'default': 1.5s can't be used"),
        ("{type: int,", "{type: int, unit: s,", "toy.yaml:11:24: a parameter of type int has no"),
        ("as: {receive", "as: {recieve", "toy.yaml:5:70: 'as': 'recieve' is not one of"),
        ('"0": all', '"0": 1', "toy.yaml:11:46: '0' is the number 1, but text is wanted"),
        ('-p, "{port}"]', "-x]", "toy.yaml:13:9: nothing says when this server is ready"),
        ("server: [", "sever: [", "toy.yaml:13:1: unknown key 'sever': did you mean 'server'?"),
        ("client: [", "command: [", "toy.yaml:13:1: 'server' needs 'client' beside it"),
        ("env:", "command: [a]\nenv:", "toy.yaml:15:1: 'server' and 'client' take the place"),
        ("env:", "mpi: links\nenv:", "toy.yaml:15:1: an MPI program has no server"),
        ("env:", "launcher: [a]\nenv:", "toy.yaml:15:1: 'launcher' belongs to 'mpi'"),
        ("env:", "files: {a/b: x}\nenv:", "toy.yaml:15:9: 'a/b' is no file's name"),
        ("env:", "output: {file: ..}\nenv:", "toy.yaml:15:16: '..' is no file's name"),
        (
            "env:",
            f"files: {{{', '.join(f'f{i}: x' for i in range(101))}}}\nenv:",
            "toy.yaml:15:1: more than 100 files or 262144 bytes: let the host have them",
        ),
        ("THREADS:", "A-B:", "toy.yaml:15:7: 'A-B' is no variable's name"),
        ('"{server}"', '"{sever}"', "toy.yaml:14:22: {sever} is no parameter of this engine: did"),
        ('[-b, "{rate}"]', "[-b, 5]", "toy.yaml:14:60: the number 5 stands where an argument is"),
        ("json: {send:", "json: {sent:", "toy.yaml:17:52: 'sent' is no mode of this engine: did"),
        ("end.sent", "end..sent", "toy.yaml:17:58: 'end..sent' is no path"),
        ("json: {", "from: wall_time, json: {", "toy.yaml:17:68: 'json' and 'from' exclude"),
        ("([0-9.]+) (MB|GB)", "([0-9.]+", "toy.yaml:18:44: '([0-9.]+' is no regular expression"),
        ("([0-9.]+) (MB|GB)", "([0-9.]+)", "toy.yaml:18:44: '([0-9.]+)' has 1 groups: put its"),
        ("unit: B/s", "unit: MB/s", "toy.yaml:18:16: values are kept in base units: write 'unit:"),
        ("unit: B/s,", "unit: B/s, kind: counts,", "toy.yaml:18:27: 'kind' is the text 'counts'"),
        ("MB: 1e6", "MB: 0", "toy.yaml:18:72: 0.0 is no factor"),
        ("name: toynet", "name: toynet\nfailed: {}", "toy.yaml:3:9: say where this stands, once"),
        ("as: {0", "modes: [sent], as: {0", "toy.yaml:8:61: 'sent' is no mode of this eng"),
        ("default: 5s", "default: 5s, modes: [send]", "toy.yaml:14:44: {duration} is left out in"),
        ("type: int, def", "type: int, modes: [send], def", "toy.yaml:15:16: {threads} is left"),
        ("default: -q", "modes: [send]", "toy.yaml:12:22: 'more' has no effect in some modes"),
        ("env:", "confirmed: {rat: {json: a}}\nenv:", "toy.yaml:15:13: 'rat' is no parameter of"),
        ("threads:", "port:", "toy.yaml:11:3: 'port' is railgauge's own word"),
        ("json: {send", "match: max, json: {send", "toy.yaml:17:70: 'match' is for several values"),
        ("env:", "import: {parameters: {x: {json: a}}}\nenv:", "toy.yaml:15:23: 'x' is no param"),
    ],
)
def test_a_mistake_is_told_by_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    messages = mistakes(tmp_path, NET.replace(old, new, 1))
    assert any(line.startswith(says) for line in messages), messages
