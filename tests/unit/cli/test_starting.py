"""What a user begins with: init's files, the plans and reports that ship, `latest`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.support import ROOT, command_line

from railgauge.plan.load import load_plan

FOLDERS = ("plans", "reports")


def railgauge(folder: Path, *arguments: str, answers: str = "") -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*arguments, cwd=folder, input=answers)


@pytest.mark.parametrize(
    ("arguments", "answers", "hosts", "links"),
    [
        ("pairs --hosts n[1-3]", "", "n1=n1@n1 n2=n2@n2 n3=n3@n3", 3),
        ("all-pairs --hosts n[1-2] --addresses ::[4-5]", "", "n1=::4@n1 n2=::5@n2", 2),
        ("pairs --hosts gw,n[1] --ssh me@a,me@b:22", "", "gw=gw@me@a n1=n1@me@b:22", 2),
        ("machine --hosts n1", "", "n1=n1@n1", 0),
        ("machine", "\n", "here=127.0.0.1@None", 0),
        ("", "pairs\na,b\n", "a=a@a b=b@b", 2),
    ],
)  # fmt: skip
def test_init_writes_what_check_accepts(
    tmp_path: Path, arguments: str, answers: str, hosts: str, links: int
) -> None:
    completed = railgauge(tmp_path, "init", *arguments.split(), answers=answers)
    assert completed.returncode == 0, completed.stderr
    plan = load_plan(tmp_path / "plan.yaml").plan
    assert [f"{name}={host.address}@{host.ssh}" for name, host in plan.hosts.items()] == (
        hosts.split()
    )
    assert len(plan.links) == links
    again = railgauge(tmp_path, "init", *arguments.split(), answers=answers)
    assert again.returncode == 2
    assert "is there already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("pairs --hosts n1", "links are between two hosts"),
        ("pairs --hosts n[1-2] --ssh a", "--ssh has 1 name, but --hosts 2"),
        ("pairs --hosts n[1-", "--hosts: 'n[1-' is no hostlist"),
        ("pairs --hosts n[1-2] --addresses x_[1-2]!", "neither an IP address nor a host's name"),
        ("pears --hosts n[1-2]", "'pears' is not one of"),
        ("pairs", "nobody answers"),
    ],
)
def test_init_leaves_nothing_of_what_is_wrong(tmp_path: Path, arguments: str, says: str) -> None:
    completed = railgauge(tmp_path, "init", *arguments.split(), "--out", "new/folder")
    assert (completed.returncode, list(tmp_path.iterdir())) == (2, [])
    assert says in completed.stderr
    assert "hosts.yaml" not in completed.stderr


def test_init_leaves_nothing_of_what_it_cannot_write(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.symlink_to("nowhere")
    completed = railgauge(tmp_path, "init", "machine", "--hosts", "n1")
    assert (completed.returncode, list(tmp_path.iterdir())) == (3, [plan])
    assert "can't write plan.yaml: File exists: check its folder" in completed.stderr


@pytest.mark.parametrize("kind", FOLDERS)
def test_what_ships_is_listed(tmp_path: Path, kind: str) -> None:
    listed = json.loads(railgauge(tmp_path, kind, "--json").stdout)
    assert [entry["name"] for entry in listed] == sorted(
        path.stem for path in (ROOT / kind).glob("*.yaml")
    )
    assert "quickstart  " in railgauge(tmp_path, kind).stdout


def test_a_plan_says_how_long_it_takes_and_what_it_needs(tmp_path: Path) -> None:
    lines = railgauge(tmp_path, "plans").stdout.splitlines()
    (matrix,) = (line for line in lines if line.startswith("mpi-matrix "))
    assert "hosts, MPI" in matrix
    (quickstart,) = (line for line in lines if line.startswith("quickstart "))
    assert "about" in quickstart
    assert "needs" not in quickstart


def test_what_ships_is_used_by_its_name_until_a_copy_says_something_else(tmp_path: Path) -> None:
    assert railgauge(tmp_path, "check", "quickstart").returncode == 0
    assert railgauge(tmp_path, "plans", "--copy", "quickstart").stdout == "plans/quickstart.yaml\n"
    copied = tmp_path / "plans" / "quickstart.yaml"
    assert railgauge(tmp_path, "check", "quickstart").returncode == 0
    copied.write_text(copied.read_text().replace("100ms", "200ms"))
    refused = railgauge(tmp_path, "check", "quickstart")
    assert refused.returncode == 2
    assert "write ./plans/quickstart.yaml for that" in refused.stderr
    assert railgauge(tmp_path, "check", "./plans/quickstart.yaml").returncode == 0
    assert railgauge(tmp_path, "plans", "--copy", "quickstart").returncode == 2


def test_a_copied_plan_has_its_hosts_file_and_a_report_its_own_folder(tmp_path: Path) -> None:
    assert railgauge(tmp_path, "plans", "--copy", "nightly", "--out", "mine").returncode == 0
    assert railgauge(tmp_path, "check", "mine/nightly.yaml").returncode == 0
    assert railgauge(tmp_path, "reports", "--copy", "quickstart").returncode == 0
    assert (tmp_path / "reports" / "quickstart.yaml").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("check quikstart", "there is no plan 'quikstart': did you mean 'quickstart'?"),
        ("report --spec quikstart", "there is no report 'quikstart': did you mean 'quickstart'?"),
        ("reports --copy none", "there is no report 'none': known are"),
        ("check mine", "there is no plan 'mine': did you mean 'mine.yaml'?"),
        ("report --spec ours", "there is no report 'ours': did you mean 'reports/ours.yaml'?"),
        ("show latest", "railgauge.db"),
        ("show lates", "'lates' is no run"),
    ],
)
def test_an_unknown_name_is_answered(tmp_path: Path, arguments: str, says: str) -> None:
    for name in ("mine.yaml", "reports/ours.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    completed = railgauge(tmp_path, *arguments.split())
    assert completed.returncode == 2
    assert says in completed.stderr


def test_several_plans_are_checked_at_once_with_the_mistakes_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("railgauge: 2\n")
    (tmp_path / "b.yaml").write_text("name: [b\n")
    completed = railgauge(tmp_path, "check", "a.yaml", "quickstart", "b.yaml")
    assert completed.returncode == 2
    assert "quickstart: valid" in completed.stdout
    assert {line.split(":")[0] for line in completed.stderr.splitlines()} == {"a.yaml", "b.yaml"}
    assert railgauge(tmp_path, "check", "a.yaml", "quickstart", "--json").returncode == 2


def test_schemas_are_printed_by_name(tmp_path: Path) -> None:
    names = railgauge(tmp_path, "schema").stdout.split()
    assert {"plan", "hosts", "report", "record", "run_event"} <= {*names}
    plan = json.loads(railgauge(tmp_path, "schema", "plan").stdout)
    assert plan["$id"] == "urn:railgauge:plan.schema.json"
    assert "did you mean 'plan'" in railgauge(tmp_path, "schema", "paln").stderr
