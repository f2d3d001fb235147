"""What a plan says of a launch beside its case, and that it makes no other case."""

from pathlib import Path

from railgauge.engine.command_lines import Terms, client_argv
from railgauge.engine.launch_terms import launch_terms
from railgauge.plan.cases import Case, expand
from railgauge.plan.load import LoadedPlan, load_plan_text
from railgauge.plan.schedule import Dispatch

PLAN = """\
railgauge: 1
name: p
control_port: 4711
hosts:
  a: {address: 10.0.0.1, ssh: a}
  b: {address: 10.0.0.2, ssh: b}
  c: {address: 10.0.0.2, ssh: c}
links:
  ab: {from: a, to: b, rate: 1Gbit/s}
  a: {from: a, to: c, rate: 2Gbit/s}
  ba: {from: b, to: a}
tests:
  - {name: t, engine: udp}
  - {name: u, engine: command, hosts: [a], set: {command: 'true'}}
"""


def terms_of(plan: LoadedPlan, test: str, case: Case) -> Terms:
    return launch_terms(plan.plan, Dispatch(test, case, (1,)))


def loaded(text: str = PLAN) -> LoadedPlan:
    return load_plan_text(text, "p.yaml", Path("nowhere"))


def test_a_launch_is_told_the_plans_port_its_hosts_addresses_and_its_links_rate() -> None:
    plan = loaded()
    links, hosts = expand(plan)
    terms_by_link = {case.link: terms_of(plan, "t", case) for case in links.cases}
    addresses = ("10.0.0.1", "10.0.0.2")
    assert terms_by_link["ab"] == Terms(4711, addresses, 1e9, addresses, addresses)
    assert terms_by_link["a"] == Terms(4711, addresses, 2e9, addresses, addresses)
    assert terms_by_link["ba"] == Terms(4711, addresses, None, addresses[::-1], addresses[::-1])
    # A host may have the name of a link.
    alone = addresses[:1]
    assert terms_of(plan, "u", hosts.cases[0]) == Terms(4711, addresses, None, alone, alone)


def test_a_links_rate_makes_no_other_case() -> None:
    slower = PLAN.replace("1Gbit/s", "10Mbit/s")
    assert [case.key for case in expand(loaded())[0].cases] == [
        case.key for case in expand(loaded(slower))[0].cases
    ]


def test_a_client_without_a_server_is_told_no_more_hosts_than_an_argument_holds() -> None:
    plan = loaded()
    case = expand(plan)[0].cases[0]
    engine = plan.catalogue.engines["udp"]
    for count in (5, 50_000):
        addresses = tuple(f"10.0.{number >> 8}.{number & 255}" for number in range(count))
        argv = client_argv(
            engine,
            case,
            "/engines",
            port=None,
            count=1,
            terms=Terms(0, addresses, at=("10.0.0.1", "10.0.0.2")),
            deadline=1.0,
        )
        (option,) = (argument for argument in argv if argument.startswith("--plan-hosts="))
        assert len(option) < 128 * 1024
        assert "10.0.0.2" in option.partition("=")[2].split(",")
