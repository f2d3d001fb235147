"""The command line itself: what it answers, what it imports, how it fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.support import ROOT, command_line

from railgauge.cli import cli

COMMANDS = cli.list_commands(click.Context(cli))


def railgauge(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*arguments, env={**os.environ, **environment})


def test_a_self_test_that_breaks_nothing_is_no_success():
    completed = railgauge("calibrate", "--self-test", "--only", "udp throughput at 1000")
    assert completed.returncode == 2
    assert "no instrument is broken for udp throughput at 1000 Mbit/s: choose" in completed.stderr


def test_help_imports_none_of_the_heavy_libraries():
    heavy = ["sqlalchemy", "numpy", "pydantic", "yaml", "jinja2", "fabric", "paramiko", "rich"]
    script = (
        "import sys; from railgauge.cli import cli; cli(['--help'], standalone_mode=False); "
        f"print(sorted(set({heavy}) & set(sys.modules)), file=sys.stderr)"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert completed.stderr.strip() == "[]"
    assert "check" in completed.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_has_help(name):
    assert f"railgauge {name}" in (ROOT / "docs" / "cli.md").read_text()
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help
    assert all(
        parameter.help for parameter in command.params if isinstance(parameter, click.Option)
    )
    assert CliRunner().invoke(cli, [name, "--help"]).exit_code == 0


def test_a_misspelt_command_names_the_right_one():
    completed = railgauge("chekc")
    assert completed.returncode == 2
    assert "did you mean 'check'" in completed.stderr


def test_a_wrong_option_is_the_users_mistake():
    completed = railgauge("list", "--nosuch")
    assert completed.returncode == 2
    assert "Traceback" not in completed.stderr


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    where = tmp_path / "none.db"
    for command in (["list"], ["show", "1"], ["resume", "1"]):
        completed = railgauge(*command, "--db", str(where))
        assert completed.returncode == 2, completed.stderr
        assert str(where) in completed.stderr
        assert not where.exists()


def test_a_plan_that_is_not_there_is_said(tmp_path):
    completed = railgauge("check", str(tmp_path / "none.yaml"))
    assert completed.returncode == 2
    assert "none.yaml" in completed.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("report", "--spec"),
        ("plans", "--copy"),
        ("init", "machine", "--hosts=", "--out"),
        ("import", "csv"),
    ],
    ids=" ".join,
)
def test_a_name_that_the_system_refuses_is_the_users_mistake(arguments):
    completed = railgauge(*arguments, "x" * 5000)
    assert completed.returncode == 2
    assert "File name too long: check its name" in completed.stderr
    assert "internal error" not in completed.stderr


@pytest.mark.parametrize(
    "command",
    [
        "check quickstart --hosts",
        "submit quickstart --hosts",
        "submit quickstart --db",
        "run quickstart --db",
        "list --db",
        "import hpcbench",
        "import iperf3",
        "import csv rates.csv --engine udp --metric throughput=a:bit/s --link-name a --hosts",
    ],
)
def test_a_link_that_leads_to_itself_is_said(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("rates.csv").write_text("a\n1\n")
    completed = railgauge(*command.split(), "loop")
    assert completed.returncode in (2, 3)
    assert "loop" in completed.stderr
    assert "Too many levels of symbolic links" in completed.stderr
    assert "internal error" not in completed.stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("plans --out mine", "--out is for --copy"),
        ("plans --copy quickstart --json", "--json is for the list"),
        ("reports --out mine", "--out is for --copy"),
        ("calibrate --self-test --json", "--json is for a certificate"),
        ("paper --out mine", "--out is for a paper's tables"),
        ("paper sharcnet --json", "--json is for the list of papers"),
        ("import csv a.csv --apart 2h", "--apart is for --started-at"),
        ("show 1 --json --no-stats", "--stats is for the tables"),
        ("show 1 --plan --stats", "--stats is for the tables"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(tmp_path, monkeypatch, command, message):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, command.split())
    assert (result.exit_code, message in result.output) == (2, True), result.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_link_to_itself_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    completed = railgauge("submit", "quickstart", "--out", "loop")
    assert completed.returncode == 2
    assert "loop/quickstart.slurm.sh: File exists; name another folder" in completed.stderr


def test_a_folder_that_is_gone_is_said(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    command = f"cd {folder}; rmdir {folder}; {' '.join(command_line.COMMAND)} list"
    completed = command_line.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert completed.returncode == 3
    assert completed.stderr.splitlines()[-1] == (
        "railgauge: the folder where you are can't be read: No such file or directory: "
        "change to another one"
    )


def test_a_run_of_too_many_digits_is_the_users_mistake():
    completed = railgauge("show", "9" * 5000)
    assert completed.returncode == 2
    assert "is not a valid" in completed.stderr


def test_check_counts_what_the_shipped_plans_would_do():
    completed = railgauge("check", "--json", str(ROOT / "plans" / "sharcnet-udp.yaml"))
    answer = json.loads(completed.stdout)
    # 4 datagram sizes by 4 socket buffers less one, over 3 links.
    assert answer["cases"] == 45
    assert answer["replications"] == 450


@pytest.mark.parametrize("plan", sorted((ROOT / "plans").glob("*.yaml")), ids=lambda p: p.name)
def test_every_shipped_plan_is_valid(plan):
    result = CliRunner().invoke(cli, ["check", str(plan)])
    assert result.exit_code == 0, result.output


def test_the_engines_are_listed_and_described():
    assert "udp" in railgauge("engines").stdout
    assert "datagram" in railgauge("engines", "udp").stdout
    assert [
        engine["name"] for engine in json.loads(railgauge("engines", "tcp", "--json").stdout)
    ] == ["tcp"]
    completed = railgauge("engines", "upd")
    assert (completed.returncode, "did you mean 'udp'" in completed.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "heading"),
    [
        (["engines", "fio"], "- `engines`: "),
        (["check", "quickstart"], "- `check`: "),
        (["plans"], "- `plans`: "),
        (["reports"], "- `reports`: "),
    ],
)
def test_the_documentation_names_all_that_is_printed_as_json(
    arguments: list[str], heading: str
) -> None:
    answered = CliRunner().invoke(cli, [*arguments, "--json"], env={"RAILGAUGE_DB": "none.db"})
    answer = json.loads(answered.output)
    described = (ROOT / "docs" / "cli.md").read_text().partition(heading)[2].partition("\n- `")[0]
    keys = (answer[0] if isinstance(answer, list) else answer).keys()
    assert keys <= {word.strip("`") for word in re.findall(r"`\w+`", described)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(shell):
    assert "_RAILGAUGE_COMPLETE" in railgauge("completion", shell).stdout


def test_completion_knows_the_commands():
    run = railgauge(_RAILGAUGE_COMPLETE="bash_complete", COMP_WORDS="railgauge re", COMP_CWORD="1")
    assert {"plain,resume", "plain,report"} <= set(run.stdout.split())


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("check quicks", "quickstart"),
        ("report --spec quicks", "quickstart"),
        ("paper shar", "sharcnet"),
        ("plans --copy quicks", "quickstart"),
        ("reports --copy quicks", "quickstart"),
    ],
)
def test_completion_knows_what_ships(words, name):
    count = str(len(words.split()))
    run = railgauge(
        _RAILGAUGE_COMPLETE="bash_complete", COMP_WORDS=f"railgauge {words}", COMP_CWORD=count
    )
    assert f"plain,{name}" in run.stdout.split()


def test_output_cut_short_by_its_reader_is_no_error():
    command = f"{sys.executable} -m railgauge engines --json | true"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("streams", ["", "2>&1"])
def test_output_cut_short_by_its_reader_leaves_the_exit_code(tmp_path, streams):
    hosts = tmp_path / "hosts.yaml"
    # Nothing listens on port 1.
    hosts.write_text("hosts:\n  off: {address: 127.0.0.1, ssh: 127.0.0.1:1}\n")
    for arguments, code in ((f"doctor {hosts}", 3), (f"check {tmp_path / 'plan.yaml'}", 2)):
        command = f"{sys.executable} -m railgauge {arguments} {streams} | true"
        run = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True)
        assert (run.returncode, b"Traceback" in run.stderr) == (code, False)


def test_output_that_finds_no_room_is_said():
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*command_line.COMMAND, "engines"], stdout=full, stderr=subprocess.PIPE
        )
    message = (
        b"railgauge: the output: No space left on device: check its name, permissions and room\n"
    )
    assert (run.returncode, run.stderr) == (3, message)


def test_a_name_that_the_terminal_cannot_show_is_no_failure(tmp_path):
    plan = tmp_path / "plan.yaml"
    text = (ROOT / "plans" / "quickstart.yaml").read_text()
    plan.write_text(text.replace("name: udp-rate", "name: udp→rate"))
    completed = railgauge("check", str(plan), PYTHONIOENCODING="ascii")
    assert (completed.returncode, completed.stderr) == (0, "")


def test_ctrl_c_while_a_text_is_evaluated_ends_with_the_exit_code_of_any_other(
    tmp_path: Path,
) -> None:
    """As dataclasses do on import; `python -m` would end by the signal."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'railgauge.cli.listing':\n"
        "            exec('raise KeyboardInterrupt')\n"
        "sys.meta_path.insert(0, Interrupting())\n"
    )
    completed = subprocess.run(
        [*command_line.COMMAND, "list"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (completed.returncode, completed.stderr) == (130, "\nrailgauge: stopped\n")
