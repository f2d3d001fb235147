"""Every mistake in a plan: file, line, column, what is wrong and what to write instead."""

from pathlib import Path

import pytest
from tests.support.problems import problems

from railgauge.plan.cases import expand
from railgauge.plan.load import load_plan, load_plan_text

PLAN = """\
railgauge: 1
name: fabric
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
links:
  ab: {from: a, to: b}
tests:
  - name: stream
    engine: udp
    set: {duration: 1s}
    grid:
      datagram: [1KiB, 1460]
      sockbuf: [10KiB, 1MiB]
"""


def mistakes(
    text: str, directory: Path = Path("nowhere"), *, allow_large: bool = False
) -> list[str]:
    def cases() -> object:
        return expand(load_plan_text(text, "p.yaml", directory), allow_large=allow_large)

    return problems(cases)


def changed(old: str, new: str) -> list[str]:
    assert old in PLAN
    return mistakes(PLAN.replace(old, new, 1))


def added(line: str) -> list[str]:
    """Return what is wrong with one more line (16) in the test, which is indented by 4."""
    return mistakes(f"{PLAN}    {line}\n")


def test_the_plan_that_is_broken_below_is_sound() -> None:
    (expanded,) = expand(load_plan_text(PLAN, "p.yaml", Path("nowhere")))
    assert len(expanded.cases) == 4


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tests:", "test:", "p.yaml:8:1: unknown key 'test': did you mean 'tests'?"),
        ("to: b", "too: b", "p.yaml:7:17: unknown key 'too': did you mean 'to'?"),
        ("ssh: a", "shh: a", "p.yaml:4:26: unknown key 'shh': did you mean 'ssh'?"),
        ("grid:", "gird:", "p.yaml:12:5: unknown key 'gird': did you mean 'grid'?"),
    ],
)
def test_unknown_key_is_reported_with_its_place_and_the_nearest(
    old: str, new: str, says: str
) -> None:
    assert says in changed(old, new)


def test_unknown_parameter_is_reported_with_its_place_and_the_nearest() -> None:
    assert changed("sockbuf:", "sokbuf:") == [
        "p.yaml:14:7: unknown parameter 'sokbuf' of engine udp: did you mean 'sockbuf'?"
    ]


def test_duplicate_key_is_reported_with_both_lines() -> None:
    assert changed("name: fabric", "name: a\nname: b") == [
        "p.yaml:3:1: key 'name' is already on line 2: keep one of the two"
    ]


def test_a_duplicate_key_hides_no_other_mistake() -> None:
    text = PLAN.replace("name: fabric", "name: a\nname: b").replace("sockbuf:", "sokbuf:")
    assert mistakes(text) == [
        "p.yaml:3:1: key 'name' is already on line 2: keep one of the two",
        "p.yaml:15:7: unknown parameter 'sokbuf' of engine udp: did you mean 'sockbuf'?",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "railgauge: 1",
            "railgauge: 2",
            "p.yaml:1:12: 'railgauge' is the number 2, but 1 is wanted",
        ),
        ("name: fabric", "name: my fabric", "p.yaml:2:7: 'name': 'my fabric' is no plan's name"),
        ("engine: udp", "engine: 5", "p.yaml:10:13: 'engine' is the number 5, but text is wanted"),
        (
            "set: {duration: 1s}",
            "set: [1]",
            "p.yaml:11:10: 'set' is a list, but a mapping is wanted",
        ),
        ("[10KiB, 1MiB]", "10KiB", "p.yaml:14:16: 'sockbuf' is the text '10KiB', but a list"),
        ("[10KiB, 1MiB]", "[[1]]", "p.yaml:14:17: a list stands where a single value is wanted"),
        ("1s", "[1s]", "p.yaml:11:21: 'duration': a list stands where a single value is wanted"),
        ("1s", "fast", "p.yaml:11:21: 'duration' of engine udp: 'fast' is not a time: write for"),
    ],
)
def test_wrong_type_is_reported_with_what_was_found_and_what_is_wanted(
    old: str, new: str, says: str
) -> None:
    (message,) = changed(old, new)
    assert message.startswith(says)


def test_missing_unit_is_reported_with_an_example() -> None:
    assert changed("1s", "1") == [
        "p.yaml:11:21: 'duration' of engine udp: 1 has no unit: "
        "write a time such as 5s, 12us or 2.9ms"
    ]


def test_unknown_unit_is_reported_with_the_known_ones() -> None:
    (message,) = changed("1460", "4KB")
    assert message.startswith(
        "p.yaml:13:24: 'datagram' of engine udp: unknown unit 'KB' for a size"
    )
    (message,) = changed("to: b", "to: b, rate: 1GB")
    assert message.startswith("p.yaml:7:30: 'rate': unknown unit 'GB' for a rate: use one of bit/s")


def test_link_without_any_rate_is_reported() -> None:
    assert changed("to: b", "to: b, rate: 0bit/s") == [
        "p.yaml:7:30: 'rate': '0bit/s' is no link's rate: write more than 0, or leave it out"
    ]


def test_value_out_of_an_engines_range_is_reported_with_the_range() -> None:
    assert changed("1460", "70000") == [
        "p.yaml:13:24: 'datagram' of engine udp: 70000 is out of range: "
        "write at least 1 and at most 65507"
    ]


def test_empty_axis_is_reported() -> None:
    assert changed("[10KiB, 1MiB]", "[]") == [
        "p.yaml:14:16: 'sockbuf': the list is empty: give it a value, or leave the key out"
    ]


def test_axis_with_one_value_in_two_spellings_is_reported() -> None:
    assert changed("1460", "1024") == [
        "p.yaml:13:24: datagram 1KiB is already number 1 of this list: leave out number 2"
    ]


def test_parameter_that_is_set_and_varied_is_reported_with_both_lines() -> None:
    assert changed("duration: 1s", "datagram: 64") == [
        "p.yaml:13:7: parameter 'datagram' is already set on line 11: keep one of the two"
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "exclude: [{datagram: 2KiB}]",
            "15:26: datagram is never 2KiB in this test, but 1KiB, 1460",
        ),
        ("exclude: [{datagram: [1KiB, 9000]}]", "15:33: datagram is never 9000 in this test"),
        ("exclude: [{link: ba}]", "15:22: link is never ba in this test, but ab"),
        ("exclude: [{mode: latency}]", "15:22: mode is never latency in this test, but stream"),
        ("exclude: [{}]", "15:15: the exclusion is empty, so it matches everything"),
        ("exclude: [{datagram: []}]", "15:26: 'datagram': the list is empty"),
        ("exclude: [{host: a}]", "15:16: unknown parameter 'host' of engine udp"),
        ("exclude: [{datagram: 4KB}]", "15:26: 'datagram' of engine udp: unknown unit 'KB'"),
        ("exclude: [{datagram: [1KiB, 1460]}]", "15:5: the exclusions leave no case of this test"),
    ],
)
def test_exclude_that_matches_nothing_or_everything_is_reported(line: str, says: str) -> None:
    (message,) = added(line)
    assert message.startswith(f"p.yaml:{says}")


def test_a_limit_within_which_no_replication_can_end_is_reported() -> None:
    assert added("limit: 1s") == [
        "p.yaml:15:5: the limit of 1s is over before a replication of 1s (duration, omit and "
        "warmup) can end: write a longer one, or leave it out"
    ]
    counted = PLAN.replace("{duration: 1s}", "{count: 1000}\n    limit: 200ms")
    assert expand(load_plan_text(counted, "p.yaml", Path("nowhere")))


def test_exclude_of_zipped_values_that_never_meet_is_reported() -> None:
    text = (
        PLAN.replace("grid:\n", "zip:\n     -\n")
        + "    exclude: [{datagram: 1KiB, sockbuf: 1MiB}]\n"
    )
    assert mistakes(text) == [
        "p.yaml:16:15: this exclusion matches no case of the test: mend it or leave it out"
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "zip: [{count: [1, 2], tos: [1]}]",
            "15:11: zipped lists must be equally long, but count has 2",
        ),
        ("zip: [{}]", "15:11: the group is empty"),
        ("zip: {count: [1]}", "15:10: 'zip' is a mapping, but a list is wanted"),
        ("zip: [{datagram: [1KiB]}]", "15:12: parameter 'datagram' is already set on line 13"),
        ("zip: [{count: [1, 1], tos: [2, 2]}]", "15:23: count 1, tos 2 is already number 1"),
    ],
)
def test_faulty_zip_is_reported(line: str, says: str) -> None:
    (message,) = added(line)
    assert message.startswith(f"p.yaml:{says}")


def test_link_to_an_unknown_host_is_reported_with_the_nearest() -> None:
    messages = mistakes(
        PLAN.replace("a: {address", "gw1: {address").replace("from: a", "from: gw2")
    )
    assert messages == ["p.yaml:7:14: link 'ab': unknown host 'gw2': did you mean 'gw1'?"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("links: [abb]", "15:13: unknown link 'abb': did you mean 'ab'?"),
        ("links: [ab, ab]", "15:17: 'ab' is listed twice: drop one"),
        ("links: ab", "15:12: 'links' is the text 'ab', but a list is wanted"),
        ("links: []", "15:12: 'links': the list is empty"),
        ("links:", "15:11: 'links' has no value"),
        ("hosts: [a]", "15:5: engine udp measures links, not hosts: write 'links'"),
        ("replications: 0", "15:19: 'replications' is the number 0, but a number of at least 1"),
        ("replications: [5]", "15:19: 'replications' is a list, but a whole number"),
        ("replications: {min: 5}", "15:19: the key 'until' is missing here"),
        ("order: randomly", "15:12: 'order' is the text 'randomly', but"),
        ("system_logs: {interval: 1s}", "15:5: unknown key 'system_logs': did you mean"),
        ("system_log: {interval: 1ms}", "15:28: 'interval': '1ms' is out of range"),
        ("system_log: {intervall: 1s}", "15:18: unknown key 'intervall': did you mean 'interval'?"),
        ("system_log: {suspect: {steal: much}}", "15:35: 'steal': the text 'much' is no limit"),
        (
            "system_log: {suspect: {steal: 2}}",
            "15:35: 'steal': the number 2 is more than all of it",
        ),
        (
            "system_log: {suspect: {swap: 3}}",
            "15:34: 'swap': the number 3 stands where on or off is wanted",
        ),
        ("system_log: never", "15:17: "),
        ("soak: 1", "15:11: 'soak' is "),
    ],
)
def test_faulty_test_is_reported(line: str, says: str) -> None:
    (message,) = added(line)
    assert message.startswith(f"p.yaml:{says}")


def test_parameter_without_effect_in_the_tests_mode_is_reported() -> None:
    assert changed("duration: 1s", "mode: latency, batch: 8") == [
        "p.yaml:11:26: parameter 'batch' has no effect in mode latency: leave it out"
    ]


def test_unknown_engine_is_reported_with_the_nearest() -> None:
    assert changed("engine: udp", "engine: upd") == [
        "p.yaml:10:13: unknown engine 'upd': did you mean 'udp'?"
    ]


def test_required_parameter_that_is_missing_is_reported() -> None:
    text = PLAN.split("tests:")[0] + "tests:\n  - name: t\n    engine: command\n"
    assert mistakes(text) == [
        "p.yaml:9:5: engine command needs the parameter 'command': set it under 'set' or 'grid'"
    ]


def test_second_test_of_one_name_is_reported() -> None:
    text = f"{PLAN}  - name: stream\n    engine: tcp\n"
    assert mistakes(text) == ["p.yaml:15:11: test 'stream' is already there: choose another name"]


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("{address: 10.0.0.1}", "4:6: 'a': say one of 'ssh: [user@]host[:port]', 'netns: NAME'"),
        ("{address: 10.0.0.1, ssh: a, transport: local}", "4:6: 'a': say one of"),
        ("{address: 10.0.0.256, ssh: a}", "4:16: 'address': '10.0.0.256' is neither an IP address"),
        ("{address: -oProxy, ssh: a}", "4:16: 'address': '-oProxy' is neither"),
        (
            "{address: 10.0.0.1, ssh: -oProxyCommand=x}",
            "4:31: 'ssh': '-oProxyCommand=x' is no dest",
        ),
        ("{address: 10.0.0.1, ssh: 'a:99999'}", "4:31: 'ssh': 'a:99999' is no destination for ssh"),
        ("{address: 10.0.0.1, transport: netns}", "4:37: 'transport' is the text 'netns', but"),
    ],
)
def test_faulty_host_is_reported(new: str, says: str) -> None:
    (message,) = changed("{address: 10.0.0.1, ssh: a}", new)
    assert message.startswith(f"p.yaml:{says}")


def test_name_that_tables_cannot_show_is_reported() -> None:
    (message,) = changed("  a: {", '  "a\\n": {')
    assert message.startswith("p.yaml:4:3: 'a\\n' can't be a name")


def test_hosts_file_that_is_missing_is_reported_where_it_is_named(tmp_path: Path) -> None:
    text = "railgauge: 1\nname: p\nhosts_file: no.yaml\ntests: [{name: t, engine: udp}]\n"
    assert mistakes(text, tmp_path) == [
        f"p.yaml:3:13: the hosts file '{tmp_path}/no.yaml' does not exist: "
        "check the name and the folder it is looked for in"
    ]


def test_mistake_in_a_hosts_file_is_reported_at_its_place_there(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(
        "hosts:\n  a: {address: 10.0.0.1, ssh: a}\nlinks:\n  x: {from: a, to: q}\n"
    )
    text = "railgauge: 1\nname: p\nhosts_file: h.yaml\ntests: [{name: t, engine: udp}]\n"
    assert mistakes(text, tmp_path) == [
        f"{tmp_path}/h.yaml:4:20: link 'x': unknown host 'q': known are a"
    ]
    (tmp_path / "h.yaml").write_text("hosts:\n  a: {adress: 10.0.0.1, ssh: a}\n")
    assert mistakes(text, tmp_path)[0].startswith(f"{tmp_path}/h.yaml:2:6: the key 'address'")


def test_link_in_both_plan_and_hosts_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "h.yaml").write_text(PLAN[PLAN.index("hosts:") : PLAN.index("tests:")])
    start, end = PLAN.index("hosts:"), PLAN.index("links:")
    (message,) = mistakes(f"{PLAN[:start]}hosts_file: h.yaml\n{PLAN[end:]}", tmp_path)
    assert message == (
        f"p.yaml:5:3: link 'ab' is in {tmp_path}/h.yaml as well: choose another name"
    )


def test_plan_with_both_or_neither_of_hosts_and_hosts_file_is_reported() -> None:
    assert changed("hosts:\n", "hosts_file: h.yaml\nhosts:\n") == [
        "p.yaml:3:1: a plan has either 'hosts' or a 'hosts_file'"
    ]
    text = "railgauge: 1\nname: p\ntests: [{name: t, engine: udp}]\n"
    assert mistakes(text) == ["p.yaml:1:1: a plan has either 'hosts' or a 'hosts_file'"]


def test_engine_description_that_is_missing_is_reported_where_it_is_named() -> None:
    (message,) = changed("hosts:\n", "engines: [mine.yaml]\nhosts:\n")
    assert message.startswith(
        "p.yaml:3:11: the engine description 'nowhere/mine.yaml' does not exist"
    )


def test_more_than_a_hundred_thousand_cases_need_to_be_allowed() -> None:
    values = ", ".join(str(value) for value in range(1, 501))
    text = PLAN.replace("[10KiB, 1MiB]", f"[{values}]")
    text += f"      tos: [{', '.join(str(value) for value in range(101))}]\n"
    assert mistakes(text) == [
        "p.yaml:12:5: up to here the plan has 101,000 cases, more than 100,000: "
        "take values away, or say --allow-large"
    ]
    loaded = load_plan_text(text, "p.yaml", Path("nowhere"))
    assert len(expand(loaded, allow_large=True)[0].cases) == 101_000


def test_absurd_plan_is_refused_even_when_large_ones_are_allowed() -> None:
    values = ", ".join(str(value) for value in range(1000))
    text = PLAN.replace("[10KiB, 1MiB]", f"[{values}]") + f"      count: [{values}]\n"
    assert mistakes(text, allow_large=True) == [
        "p.yaml:12:5: up to here the plan has 2,000,000 cases, more than 1,000,000: split the plan"
    ]


def test_more_replications_than_memory_holds_are_refused() -> None:
    text = f"{PLAN}    replications: 1000000\n".replace("1460]", "1460, 1461, 1462, 1463, 1464]")
    assert mistakes(text) == [
        "p.yaml:15:5: up to here the plan has 12,000,000 replications, more than 10,000,000: "
        "ask for fewer, or split the plan"
    ]


def test_all_mistakes_of_a_plan_are_told_at_once() -> None:
    text = (
        PLAN.replace("name: fabric", "name: my fabric")
        .replace("to: b", "to: c")
        .replace("1460", "70000")
        .replace("sockbuf", "sokbuf")
        + "    repliactions: 5\n  - name: second\n    engine: tpc\n"
        + "  - {name: third, engine: tcp, links: [x]}\n"
    )
    assert [line.split(" ")[0] for line in mistakes(text)] == [
        "p.yaml:2:7:",
        "p.yaml:7:21:",
        "p.yaml:13:24:",
        "p.yaml:14:7:",
        "p.yaml:15:5:",
        "p.yaml:17:13:",
        "p.yaml:18:40:",
    ]


def test_alias_bomb_empty_binary_and_tabbed_plans_are_refused(tmp_path: Path) -> None:
    bomb = "\n".join(
        ["a0: &a0 [1, 2]"]
        + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    )
    for content, says in [
        (bomb.encode(), "more than 1,000,000 values"),
        (b"", "the file is empty"),
        (b"\x7fELF\x02\x01\x00", "is not text: is this a binary file?"),
        (b"name: \xff\xfe", "byte 0xff (number 7) is not UTF-8"),
        (b"name: x\n\thosts: y\n", "p.yaml:2:1: this line has a tab"),
    ]:
        (tmp_path / "p.yaml").write_bytes(content)
        assert says in "\n".join(problems(load_plan, tmp_path / "p.yaml"))
