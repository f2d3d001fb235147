"""The engines' descriptions: values read in base units, external engines checked by line."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.problems import problems

from railgauge.base.errors import EngineError, FileProblems, InputError
from railgauge.cli.engines import describe
from railgauge.plan.catalogue import EngineInfo, ParameterInfo, load_catalogue, read_engine
from railgauge.plan.catalogue.headlines import display_base, headlines, judged

GOOD = """\
railgauge_engine: 1
name: copy
summary: Copies a file with dd
parameters:
  block: {type: size, default: 4KiB, min: 1, max: 1MiB, help: bytes at a time}
  from: {type: text, default: /dev/zero}
  more: {type: argv, default: "oflag=direct 'a b'"}
  kind: {type: choice, choices: [a, b], default: a}
command: [dd, "if={from}", "bs={block}", "{{x}}-{kind}", "{more}"]
metrics:
  wall_time: {unit: s, better: lower, from: wall_time}
"""


@pytest.fixture(scope="module")
def engines() -> dict[str, EngineInfo]:
    return dict(load_catalogue().engines)


def described(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "copy.yaml"
    path.write_text(text)
    return [problem.removeprefix(f"{tmp_path}/") for problem in problems(load_catalogue, [path])]


@pytest.mark.parametrize(
    ("engine", "parameter", "written", "value"),
    [
        ("udp", "datagram", "4KiB", 4096),
        ("udp", "datagram", 1460, 1460),
        ("udp", "duration", "100ms", 0.1),
        ("udp", "ip", 4, "4"),
        ("udp", "tos", 16, 16),
        ("tcp", "nodelay", False, False),
        ("tcp", "congestion", "reno", "reno"),
        ("command", "command", "echo 'a b'", "echo 'a b'"),
    ],
)
def test_values_are_read_in_base_units(
    engines: dict[str, EngineInfo], engine: str, parameter: str, written: Any, value: Any
) -> None:
    read = engines[engine].parameters[parameter].parse(written)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("engine", "parameter", "written", "says"),
    [
        ("udp", "datagram", 70_000, "70000 is out of range: write at least 1 and at most 65507"),
        ("udp", "duration", 5, "5 has no unit: write a time such as 5s"),
        ("udp", "duration", "1ms", "1ms is out of range: write at least 10ms and at most 86400s"),
        (
            "udp",
            "mode",
            "streem",
            "'streem' is not one of stream, bidirectional, exponential, latency, generator: "
            "did you mean 'stream'",
        ),
        ("udp", "tos", 1.5, "1.5 is not a whole number"),
        ("udp", "tos", "16", "'16' is not a whole number"),
        ("udp", "tos", True, "true is not a whole number"),
        ("udp", "datagram", [1460], "a list is not a size"),
        ("udp", "datagram", None, "nothing is not a size"),
        ("tcp", "nodelay", "on", "'on' is not true or false"),
        ("tcp", "nodelay", 1, "1 is not true or false"),
        ("tcp", "congestion", 1.10, "1.1 is not text: put it in quotes"),
        ("tcp", "congestion", "reno\nx", "has a line break or control character"),
        ("command", "command", "echo 'a", "has a quote or backslash without its end"),
        ("command", "command", "  ", "names no program"),
    ],
)
def test_other_values_are_refused_with_what_to_write(
    engines: dict[str, EngineInfo], engine: str, parameter: str, written: Any, says: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        engines[engine].parameters[parameter].parse(written)


def test_values_are_shown_as_plans_write_them(engines: dict[str, EngineInfo]) -> None:
    tcp = engines["tcp"].parameters
    assert tcp["message"].format(65536) == "64KiB"
    assert tcp["duration"].format(0.1) == "100ms"
    assert tcp["nodelay"].format(True) == "true"
    assert tcp["congestion"].format("reno") == "reno"
    assert ParameterInfo("r", "rate").format(1e9) == "1Gbit/s"


def test_defaults_have_the_type_that_written_values_have(engines: dict[str, EngineInfo]) -> None:
    for engine in engines.values():
        for parameter in engine.parameters.values():
            if parameter.default is not None and parameter.default != "":
                written = {"size": str, "time": "{!r}s".format, "rate": "{}bit/s".format}
                plan_value = written.get(parameter.type, lambda value: value)(parameter.default)
                assert type(parameter.parse(plan_value)) is type(parameter.default), parameter.name


def test_our_engines_measure_links_and_commands_run_on_hosts(
    engines: dict[str, EngineInfo],
) -> None:
    sides = {name: engine.two_sided for name, engine in engines.items()}
    assert sides["udp"] and sides["tcp"] and not sides["command"]
    assert "exec" not in sides


def test_a_misspelt_engine_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown engine 'upd': did you mean 'udp'"):
        load_catalogue().engine("upd")


def test_a_command_line_becomes_arguments_without_a_shell(tmp_path: Path) -> None:
    path = tmp_path / "copy.yaml"
    path.write_text(GOOD)
    engine = load_catalogue([path]).engine("copy")
    defaults = {name: parameter.default for name, parameter in engine.parameters.items()}
    assert engine.argv({name: value for name, value in defaults.items() if value is not None}) == [
        "dd",
        "if=/dev/zero",
        "bs=4096",
        "{x}-a",
        "oflag=direct",
        "a b",
    ]
    assert engine.parameters["timeout"].default == 0.0
    assert not engine.two_sided


def test_a_command_is_measured_by_what_rail_exec_reports(engines: dict[str, EngineInfo]) -> None:
    reported = {"wall_time": 1.5, "user_time": 0.5, "system_time": 0.25, "max_rss": 4096.0}
    measured = engines["command"].read_metrics(reported | {"exit_status": 0.0}, "output")
    assert measured == reported
    with pytest.raises(EngineError, match="did not report max_rss"):
        engines["command"].read_metrics({"wall_time": 1, "user_time": 1, "system_time": 1}, "")


def test_a_metric_without_a_description_breaks_the_contract(
    engines: dict[str, EngineInfo],
) -> None:
    with pytest.raises(EngineError, match="reported speed, which its description lacks"):
        engines["udp"].read_metrics({"speed": 1.0}, "")


def network_engine(**changes: Any) -> EngineInfo:
    """Return an engine as `--describe` gives one, with the keys that are only there sometimes."""
    mode = {"type": "choice", "unit": "", "help": "", "default": "stream"}
    described = {
        "name": "net",
        "version": "1",
        "summary": "",
        "roles": ["server", "client"],
        "parameters": [
            {"name": "mode", "choices": ["stream", "sweep", "generator"], **mode},
            {"name": "datagram", "type": "size", "unit": "B", "default": 1460, "help": ""},
            {
                "name": "rate",
                "type": "rate",
                "unit": "bit/s",
                "default": 0,
                "help": "",
                "required_in": ["generator"],
            },
        ],
        "metrics": [
            {"name": "speed", "unit": "bit/s", "better": "higher", "help": "", "kind": "rate"},
            {
                "name": "jitter",
                "unit": "s",
                "better": "lower",
                "help": "",
                "kind": "time",
                "optional": True,
            },
        ],
        "solo_modes": ["generator"],
        "series": [{"mode": "sweep", "becomes": "stream", "parameter": "datagram", "first": 1}],
    }
    return read_engine({**described, **changes})


def test_what_an_engine_describes_only_sometimes_is_read() -> None:
    engine = network_engine()
    assert engine.parameters["rate"].required_in == ("generator",)
    assert engine.parameters["datagram"].required_in == ()
    assert [name for name, metric in engine.metrics.items() if metric.optional] == ["jitter"]
    assert engine.solo_modes == ("generator",)
    assert [(series.mode, series.becomes) for series in engine.series] == [("sweep", "stream")]


def test_an_optional_metric_may_be_missing_and_no_other() -> None:
    engine = network_engine()
    assert engine.read_metrics({"speed": 1.0}, "") == {"speed": 1.0}
    metrics = {"speed": 1.0, "jitter": 2.0}
    assert engine.read_metrics(metrics, "") == metrics
    with pytest.raises(EngineError, match="did not report speed"):
        engine.read_metrics({"jitter": 2.0}, "")


def test_a_description_tells_what_is_optional_or_required_and_what_modes_stand_for() -> None:
    lines = list(describe(network_engine()))
    assert "  rate (rate, default 0bit/s, required in mode generator): " in lines
    assert "  speed (bit/s, higher is better): " in lines
    assert "  jitter (s, lower is better, where it can be measured): " in lines
    assert lines[-3:] == [
        "\nmodes",
        "  sweep: in a plan, cases of mode stream whose datagram is 1, 2 … "
        "up to what is set for it",
        "  generator: needs no server; the link's other host is only the target",
    ]
    assert "\nmodes" not in describe(network_engine(series=[], solo_modes=[]))


@pytest.mark.parametrize(
    ("limit", "values"),
    [
        (1, [1]),
        (2, [1, 2]),
        (8, [1, 2, 4, 8]),
        (10, [1, 2, 4, 8, 10]),
        (2.5, [1.0, 2.0, 2.5]),
    ],
)
def test_a_series_doubles_up_to_its_limit_which_comes_last(limit: Any, values: list[Any]) -> None:
    (series,) = network_engine().series
    assert series.values(limit) == values
    assert {type(value) for value in series.values(limit)} == {type(limit)}


def test_a_choice_by_its_former_name_is_told_the_new_one(engines: dict[str, EngineInfo]) -> None:
    precision = engines["cpu"].parameters["precision"]
    with pytest.raises(ValueError, match="'half' has another name: write 'int16'"):
        precision.parse("half")
    for engine in engines.values():
        for info in engine.parameters.values():
            assert set(info.former.values()) <= set(info.choices) - set(info.former)


def test_the_modes_that_our_engines_describe_are_choices_of_theirs(
    engines: dict[str, EngineInfo],
) -> None:
    for engine in engines.values():
        modes = set(engine.parameters["mode"].choices) if "mode" in engine.parameters else set()
        required = {
            mode for parameter in engine.parameters.values() for mode in parameter.required_in
        }
        assert modes >= required | set(engine.solo_modes)
        for series in engine.series:
            assert {series.mode, series.becomes} <= modes
            info = engine.parameters[series.parameter]
            assert info.parse(series.first) == series.first
            assert info.applies([series.becomes])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: copy", "name: udp", "copy.yaml:2:7: an engine 'udp' is already there"),
        ("name: copy", "name: Copy!", "copy.yaml:2:7: 'name': 'Copy!' is not a name"),
        ("engine: 1", "engine: 2", "copy.yaml:1:19: 'railgauge_engine' is the number 2, but 1"),
        ("summary: ", "sumary: ", "copy.yaml:3:1: unknown key 'sumary': did you mean 'summary'?"),
        ("type: size", "type: siez", "copy.yaml:5:17: 'type' is the text 'siez', but"),
        ("4KiB", "4KB", "copy.yaml:5:32: 'default': unknown unit 'KB' for a size"),
        ("4KiB", "4MiB", "copy.yaml:5:32: 'default': 4MiB is out of range"),
        ("/dev/zero}", "x, min: 1}", "copy.yaml:6:34: a parameter of type text has no 'min'"),
        ("choices: [a, b], ", "", "copy.yaml:8:9: 'choices' belongs to the type choice"),
        ("bs={block}", "bs={blok}", "copy.yaml:9:28: {blok} is no parameter of this engine: did"),
        ("bs={block}", "bs=1", "copy.yaml:5:3: {block} stands nowhere in 'command'"),
        ("bs={block}", "bs={block} {", "copy.yaml:9:28: 'bs={block} {' has a brace"),
        ("{more}", "x{more}", "copy.yaml:9:58: {more} becomes several arguments"),
        ("from: wall_time", "from: wall", "copy.yaml:11:45: 'wall' is nothing that rail-exec"),
        ("unit: s", "unit: ms", "copy.yaml:11:21: wall_time comes in the unit 's': write that"),
        ("kind: {", "timeout: {", "copy.yaml:8:3: 'timeout' is railgauge's own word"),
    ],
)
def test_a_mistake_in_a_description_is_told_by_line(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    messages = described(tmp_path, GOOD.replace(old, new, 1))
    assert any(line.startswith(says) for line in messages), messages


def test_two_descriptions_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD)
    with pytest.raises(FileProblems, match=r"b\.yaml:2:7: an engine 'copy' is already there"):
        load_catalogue([tmp_path / "a.yaml", tmp_path / "b.yaml"])


def test_each_metric_of_our_engines_says_what_may_be_done_with_it() -> None:
    headlines: dict[str, set[int]] = {}
    for engine in load_catalogue().engines.values():
        if engine.program is not None:
            continue
        for metric in engine.metrics.values():
            name = f"{engine.name}: {metric.name}"
            assert metric.kind in {
                "s": ("time", "cost"),
                "B": ("count",),
                "": ("count", "ratio", "share", "label"),
            }.get(metric.unit, ("rate",)), name
            assert not metric.judged or metric.better in ("higher", "lower"), name
            headlines.setdefault(metric.name, set()).add(metric.headline)
    # Tables of several engines have the same columns in the same order.
    assert [name for name, places in headlines.items() if len(places) > 1] == []


def test_only_engines_that_say_so_make_something_of_a_links_rate() -> None:
    engines = load_catalogue().engines.values()
    assert [engine.name for engine in engines if engine.takes_link_rate] == ["tcp"]
    assert network_engine(takes_link_rate=True).takes_link_rate
    assert not network_engine().takes_link_rate


def test_a_metric_of_another_program_is_shown_and_judged_as_ours_of_its_name() -> None:
    engines = load_catalogue().engines
    assert engines["fio"].metrics["iops"].headline == engines["disk"].metrics["iops"].headline > 0
    assert engines["fio"].metrics["iops"].judged
    assert not engines["dgemm"].metrics["products"].headline


def test_the_headlines_are_in_the_order_of_their_numbers_with_what_the_logs_add_last() -> None:
    columns = list(headlines())
    assert columns[:4] == [
        *("throughput", "reverse_throughput", "total_throughput", "local_throughput")
    ]
    assert columns.index("rtt_p99") < columns.index("loss_rate") < columns.index("wall_time")
    assert columns[-3:] == ["wall_time", "client_cpu_per_gigabyte", "server_cpu_per_gigabyte"]
    assert headlines()["loss_rate"] == "%"


def test_of_what_has_no_unit_shares_alone_are_shown_in_percent() -> None:
    stored = (("loss_rate", ""), ("sent_packets", ""), ("clock_skew", ""), ("throughput", "bit/s"))
    assert [display_base(*metric) for metric in stored] == ["1", "", "", "bit/s"]
    logged = ("client_cpu_load", "server_cpu_load_soak", "client_cpu_per_gigabyte")
    assert [display_base(metric, "") for metric in logged] == ["1", "1", ""]
    columns = [name for name in headlines() if name not in ("local_throughput", "clock", "overlap")]
    assert list(judged()) == [*columns, "rtt_mean", "slowest_share", "back_to_back"]
