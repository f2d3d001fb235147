"""`railgauge gate`, from the plan to the exit code: on a script's figures, and on a real link."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.support import command_line
from tests.support.boxes import Box
from tests.support.engine_cache import copy_to

_ENGINE = """\
railgauge_engine: 1
name: figure
summary: prints the figure that a file holds
command: [sh, "{folder}/figure.sh", "{folder}", "{{lane}}"]
parameters:
  lane: {{type: int, default: 1}}
metrics:
  throughput: {{unit: bit/s, better: higher, regex: "throughput ([0-9.e+]+)"}}
  wakeups: {{unit: "1", better: lower, regex: "wakeups ([0-9.e+]+)"}}
"""
# Each replication is another, by up to half a percent; a lane without a level fails. With a file
# `hold` what is measured once more takes long; a script `hook-LANE-COUNT` runs in that replication.
_SCRIPT = """\
set -e
level=$(cat "$1/lane-$2")
count=$(cat "$1/count-$2" 2>/dev/null || echo 0)
echo $((count + 1)) >"$1/count-$2"
[ ! -e "$1/then-$2" ] || [ "$count" -lt 20 ] || level=$(cat "$1/then-$2")
[ ! -e "$1/hold" ] || [ "$count" -lt 20 ] || sleep 60
[ ! -e "$1/hook-$2-$count" ] || sh -e "$1/hook-$2-$count"
wakeups=$(cat "$1/wakeups-$2" 2>/dev/null || echo 100)
exec awk -v level="$level" -v wakeups="$wakeups" -v n="$count" 'BEGIN {
    noise = 1 + 0.001 * ((n * 7) % 10 - 4.5)
    printf "throughput %.9e wakeups %.9e\\n", level * noise, wakeups * noise }'
"""
_PLAN = """\
railgauge: 1
name: lanes
engines: [figure.yaml]
hosts: {here: {address: 127.0.0.1, transport: local}}
tests:
  - {name: figure, engine: figure, grid: {lane: [1, 2, 3]}, replications: 10, system_log: off}
"""


@dataclass
class Lanes:
    """A plan of three cases whose figures are those that we write."""

    folder: Path
    template: Path

    def measured_once(self) -> None:
        """Make the plan's first run the baseline, as `gate --set-missing` did for the first test.

        Who changes plan or levels before has it measured.
        """
        if self.template.exists():
            shutil.copytree(self.template, self.folder, dirs_exist_ok=True)
            return
        self.gate("--set-missing")
        shutil.copytree(self.folder, self.template)

    def level(self, lane: int, rate: float, name: str = "lane") -> None:
        (self.folder / f"{name}-{lane}").write_text(f"{rate:.0f}\n")

    def run(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """Run railgauge; return what it prints."""
        completed = command_line.railgauge(
            *arguments, "--db", str(self.folder / "railgauge.db"), env={**os.environ, **environment}
        )
        assert completed.returncode == code, completed.stdout + completed.stderr
        return completed.stdout if code < 2 else completed.stderr

    def gate(self, *arguments: str, code: int = 0, **environment: str) -> str:
        plan = str(self.folder / "plan.yaml")
        return self.run("gate", plan, *arguments, code=code, **environment)

    def baseline(self) -> None:
        """Let the first three runs be the baseline."""
        self.measured_once()
        for _ in range(2):
            self.run("run", str(self.folder / "plan.yaml"))
        self.run("baseline", "set", "lanes", "1", "2", "3", "--replace")

    def runs(self) -> list[dict[str, Any]]:
        runs = json.loads(self.run("list", "--json"))
        assert isinstance(runs, list)
        return runs


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name is the same in all tests, as plans and databases have it in them."""
    return tmp_path_factory.mktemp("gate")


@pytest.fixture
def lanes(place: Path) -> Lanes:
    folder = place / "lanes"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "figure.yaml").write_text(_ENGINE.format(folder=folder))
    (folder / "figure.sh").write_text(_SCRIPT)
    (folder / "plan.yaml").write_text(_PLAN)
    workspace = Lanes(folder, place / "kept")
    for lane in (1, 2, 3):
        workspace.level(lane, 1e9)
    return workspace


def test_without_a_baseline_it_measures_nothing_and_says_how_to_get_one(lanes: Lanes) -> None:
    output = lanes.gate(code=2)
    assert "say --set-missing" in output
    assert not (lanes.folder / "count-1").exists()
    assert "run 1 is baseline lanes now and was compared with nothing" in lanes.gate(
        "--set-missing"
    )
    assert "nothing could be shown to be slower" in lanes.gate("--set-missing").splitlines()[0]


def test_a_slower_case_is_measured_once_more_and_fails_the_gate(lanes: Lanes) -> None:
    lanes.baseline()
    lanes.level(2, 0.96e9)
    files = {kind: lanes.folder / f"verdict.{kind}" for kind in ("xml", "md")}
    summary = lanes.folder / "summary.md"
    summary.write_text("# before\n")
    output = lanes.gate(
        *("--junit", str(files["xml"]), "--markdown", str(files["md"]), "--github"),
        *(
            "--notify",
            f"sh -c 'cat > {lanes.folder}/note; echo $RAILGAUGE_EXIT >> {lanes.folder}/note'",
        ),
        code=1,
        GITHUB_STEP_SUMMARY=str(summary),
    )
    lines = output.splitlines()
    assert lines[0] == "lanes: 1 of 3 cases slower (baseline lanes (runs 1, 2, 3) → runs 4 and 5)"
    assert lines[1].startswith(
        "slower: figure: here · lane 2: throughput 1.000 Gbit/s → 0.9600 Gbit/s"
    )
    titled = "::error title=Slower%3A figure%3A here · lane 2::"
    assert any(line.startswith(titled) for line in lines)
    assert [run["cases"] for run in lanes.runs()] == [3, 3, 3, 3, 1]
    suite = ElementTree.parse(files["xml"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert summary.read_text() == f"# before\n{files['md'].read_text()}"
    note = (lanes.folder / "note").read_text().splitlines()
    assert (note[0], note[-1]) == (lines[0], "1")


def test_it_judges_the_metrics_that_are_named_and_no_others(lanes: Lanes) -> None:
    lanes.baseline()
    lanes.level(2, 150, name="wakeups")
    lanes.level(3, 0.5e9)
    throughput, wakeups = lanes.gate(code=1), lanes.gate("--metric", "wakeups", code=1)
    assert "slower: figure: here · lane 3: throughput 1.000 Gbit/s → 0.5000 Gbit/s" in throughput
    assert "lane 2" not in throughput
    assert "slower: figure: here · lane 2: wakeups 100" in wakeups
    assert "lane 3" not in wakeups and "throughput" not in wakeups


def test_a_run_is_found_by_the_label_that_it_was_started_with(lanes: Lanes) -> None:
    lanes.measured_once()
    lanes.run("run", str(lanes.folder / "plan.yaml"), "--label", "driver=new", "--label", "rack=7")
    (labelled,) = json.loads(lanes.run("list", "--json", "--label", "driver=new"))
    assert (labelled["id"], labelled["labels"]) == (2, {"driver": "new", "rack": "7"})
    assert "driver=new" in lanes.run("show", "2")


def test_with_one_run_in_the_baseline_only_a_large_fall_fails_the_gate(lanes: Lanes) -> None:
    lanes.measured_once()
    lanes.level(2, 0.96e9)
    lines = lanes.gate().splitlines()
    assert lines[0].startswith(
        "lanes: nothing could be shown to be slower, not enough data for 3 of 3 results ("
    )
    assert lines[1].startswith("3 of 3 results: not enough baseline runs: ")
    assert lines[1].endswith("railgauge baseline set lanes 1 RUN RUN --replace")
    lanes.level(2, 0.8e9)
    assert lanes.gate(code=1).startswith("lanes: 1 of 3 cases slower, not enough data for 2 of 3")


def test_what_was_slow_for_once_does_not_fail_the_gate(lanes: Lanes) -> None:
    lanes.measured_once()
    # Its first ten figures are the baseline's, the next ten the run's, then it is well again.
    lanes.level(3, 0.9e9)
    lanes.level(3, 1e9, "then")
    output = lanes.gate()
    assert "nothing could be shown to be slower" in output.splitlines()[0]
    assert "not confirmed: figure: here · lane 3" in output
    lanes.level(3, 0.9e9, "then")
    assert "slower" in lanes.gate("--no-confirm", code=1).splitlines()[0]
    assert [run["cases"] for run in lanes.runs()] == [3, 3, 1, 3]


def test_what_failed_is_told_and_the_rest_compared(lanes: Lanes) -> None:
    lanes.measured_once()
    (lanes.folder / "lane-1").unlink()
    lanes.level(2, 0.9e9)
    report = json.loads(lanes.gate("--json", code=1))
    command = f"railgauge show 2 --db {lanes.folder}/railgauge.db"
    assert report["problems"] == [f"10 replications failed: {command}"]
    verdicts = {result["parameters"]["lane"]: result for result in report["results"]}
    assert {lane: result["verdict"] for lane, result in verdicts.items()} == {
        1: "not enough data",
        2: "slower",
        3: "not enough data",
    }
    assert verdicts[1]["why"] == "after, 10 replications failed and none was measured"


@pytest.mark.parametrize("changed", ["railgauge: [", _PLAN.replace("10,", "4,")])
def test_the_plan_that_was_read_is_judged_whatever_its_files_say_by_then(
    lanes: Lanes, changed: str
) -> None:
    commit = "git -c user.name=a -c user.email=a@example.org commit -q -m files"
    repository = f"cd {lanes.folder}; git init -q; git add plan.yaml figure.yaml; {commit}"
    subprocess.run(["sh", "-ec", repository], check=True)
    lanes.gate("--set-missing")
    lanes.level(2, 0.9e9)
    (lanes.folder / "changed").write_text(changed)
    (lanes.folder / "hook-2-19").write_text(
        f"cd {lanes.folder}; cp changed plan.yaml; cp changed figure.yaml; {commit} -a"
    )
    report = json.loads(lanes.gate("--json", code=1))
    assert (report["counts"], report["problems"]) == ({"slower": 1, "not enough data": 2}, [])
    assert [run["asked"] for run in lanes.runs()] == [30, 30, 10]
    with contextlib.closing(sqlite3.connect(lanes.folder / "railgauge.db")) as stored:
        plans = stored.execute(
            "SELECT DISTINCT plan_text, git_commit, git_dirty, text FROM run"
            " JOIN run_file ON run_id = run.id AND run_file.name = 'engine figure'"
        ).fetchall()
    assert [row[0] for row in plans] == [_PLAN]


_COUNTING = """\
import atexit, collections, sys
counts = collections.Counter()
def count(event, arguments):
    if event in ("open", "sqlite3.connect"):
        counts[event, str(arguments[0]).rpartition("/")[2]] += 1
sys.addaudithook(count)
plan, database = ("open", "plan.yaml"), ("sqlite3.connect", "railgauge.db")
atexit.register(lambda: print(counts[plan], counts[database], file=sys.stderr))
from railgauge.cli import main
main()
"""


def test_a_gate_reads_its_plan_and_opens_its_database_once(lanes: Lanes) -> None:
    lanes.measured_once()
    lanes.level(2, 0.9e9)
    plan, database = str(lanes.folder / "plan.yaml"), str(lanes.folder / "railgauge.db")
    completed = subprocess.run(
        [sys.executable, "-c", _COUNTING, "gate", plan, "--db", database],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert completed.returncode == 1, completed.stderr
    assert "→ runs 2 and 3)" in completed.stdout
    # To read a file once is to open it twice: first to see whether it can be read.
    assert completed.stderr.splitlines()[-1] == "2 1"


def test_the_first_run_decides_where_nothing_can_be_measured_once_more(lanes: Lanes) -> None:
    cache = lanes.folder / ".cache"
    copy_to(lanes.folder)
    lanes.gate("--set-missing", XDG_CACHE_HOME=str(cache))
    lanes.level(2, 0.9e9)
    (lanes.folder / "hook-3-19").write_text(f"mv {cache} {cache}.away; touch {cache}")
    report = json.loads(lanes.gate("--json", code=1, XDG_CACHE_HOME=str(cache)))
    assert report["counts"] == {"slower": 1, "not enough data": 2}
    (problem,) = report["problems"]
    assert problem.startswith("what looked slower could not be measured once more: ")


def test_what_failed_when_measured_once_more_is_counted(lanes: Lanes) -> None:
    lanes.measured_once()
    lanes.level(2, 0.9e9)
    # There is no figure to read in a folder.
    (lanes.folder / "then-2").mkdir()
    report = json.loads(lanes.gate("--json", code=1))
    command = f"railgauge show 3 --db {lanes.folder}/railgauge.db"
    assert report["problems"] == [f"10 confirming replications failed: {command}"]
    slower = report["results"][0]
    assert (slower["verdict"], slower["parameters"]["lane"]) == ("slower", 2)
    assert [side["failed"] for side in slower["sides"]] == [0, 10]


def test_the_first_gate_has_every_form_of_a_verdict(lanes: Lanes) -> None:
    junit = lanes.folder / "verdict.xml"
    report = json.loads(lanes.gate("--set-missing", "--json", "--junit", str(junit)))
    (note,) = report["notes"]
    assert (report["passed"], note.partition(",")[0]) == (
        True,
        "run 1 is baseline lanes now and was compared with nothing",
    )
    assert report["sides"][0] == {"title": "no baseline", "runs": []}
    assert ElementTree.parse(junit).getroot().get("tests") == "0"


def _without_readers() -> int:
    reads, writes = os.pipe()
    os.close(reads)
    return writes


@pytest.mark.parametrize(
    ("opened", "code"),
    [(_without_readers, 1), (lambda: os.open("/dev/full", os.O_WRONLY), 3)],
    ids=["closed pipe", "full disk"],
)
def test_a_verdict_that_cannot_be_printed_is_told_the_others(
    lanes: Lanes, opened: Callable[[], int], code: int
) -> None:
    lanes.measured_once()
    lanes.level(2, 0.9e9)
    note, junit = lanes.folder / "note", lanes.folder / "verdict.xml"
    arguments = ["--db", str(lanes.folder / "railgauge.db"), "--junit", str(junit)]
    command = [*command_line.COMMAND, "gate", str(lanes.folder / "plan.yaml"), *arguments]
    output = opened()
    completed = command_line.run(
        [*command, "--notify", f"cp /dev/stdin {note}"],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    os.close(output)
    assert completed.returncode == code, completed.stderr
    assert ("can't be printed: No space left" in completed.stderr) == (code == 3)
    assert "1 of 3 cases slower" in note.read_text()
    assert ElementTree.parse(junit).getroot().get("failures") == "1"


def test_a_run_that_failed_does_not_become_the_baseline(lanes: Lanes) -> None:
    (lanes.folder / "lane-1").unlink()
    assert "did not become baseline lanes" in lanes.gate("--set-missing", code=1)
    assert "say --set-missing" in lanes.gate(code=2)


def test_a_baseline_that_shares_no_case_with_the_plan_is_no_pass(lanes: Lanes) -> None:
    lanes.measured_once()
    plan = lanes.folder / "plan.yaml"
    plan.write_text(plan.read_text().replace("[1, 2, 3]", "[4]"))
    lanes.level(4, 1e9)
    output = lanes.gate(code=1)
    sentence = (
        "nothing could be compared: no case has a value to judge in both baseline lanes (run 1) and"
    )
    assert sentence in output
    assert "3 cases only before:" in output


def test_too_few_replications_to_find_anything_are_no_pass(lanes: Lanes) -> None:
    plan = lanes.folder / "plan.yaml"
    plan.write_text(plan.read_text().replace("replications: 10", "replications: 3"))
    lanes.gate("--set-missing")
    lanes.level(2, 0.5e9)
    lines = lanes.gate(code=1).splitlines()
    assert lines[0].startswith(
        "lanes: nothing could be judged, not enough data for 3 of 3 results ("
    )
    assert lines[1] == (
        "not measured: no case could be judged: 3 and 3 replications can't show any change: "
        "take 4 of each"
    )


def test_a_confirming_run_that_was_stopped_goes_on_with_its_cases_alone(lanes: Lanes) -> None:
    lanes.measured_once()
    lanes.level(2, 0.9e9)
    lanes.gate(code=1)
    assert "run 3 " in lanes.run("resume", "3")
    assert [run["asked"] for run in lanes.runs()] == [30, 30, 10]


def test_the_baseline_may_be_any_run_commit_or_day(lanes: Lanes) -> None:
    lanes.measured_once()
    output = lanes.gate("--baseline", "latest")
    assert "(run 1 (the latest) → run 2)" in output.splitlines()[0]
    assert "is no baseline" in lanes.gate("--baseline", "other", code=2)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/no/such/program", "can't be started: No such file or directory"),
        ("sh -c 'echo no mail here; exit 7'", "ended with 7: no mail here"),
        ("true", ""),
        ("sh -c 'exec <&-; exit 0'", ""),
    ],
)
def test_what_goes_wrong_with_the_notification_is_told_and_changes_nothing(
    lanes: Lanes, command: str, message: str
) -> None:
    plan = str(lanes.folder / "plan.yaml")
    database = str(lanes.folder / "railgauge.db")
    started = [*command_line.COMMAND, "gate", plan, "--db", database]
    completed = command_line.run(
        [*started, "--set-missing", "--notify", command],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert completed.returncode == 0, completed.stderr
    lines = [line for line in completed.stderr.splitlines() if "--notify" in line]
    assert lines == ([f"railgauge: --notify {command.split()[0]}: {message}"] if message else [])


def test_a_gate_that_could_not_run_notifies_too(lanes: Lanes) -> None:
    note = lanes.folder / "note"
    lanes.gate("--notify", f"cp /dev/stdin {note}", code=2)
    assert "no verdict: there is no baseline 'lanes', as there is no database" in note.read_text()


def test_a_gate_that_was_stopped_notifies_too(lanes: Lanes) -> None:
    lanes.measured_once()
    waits, note = lanes.folder / "lane-1", lanes.folder / "note"
    waits.unlink()
    os.mkfifo(waits)
    plan, database = str(lanes.folder / "plan.yaml"), str(lanes.folder / "railgauge.db")
    command = [*command_line.COMMAND, "gate", plan, "--db", database]
    notify = f"sh -c '(cat; echo $RAILGAUGE_EXIT) >{note}'"
    process = command_line.Popen(
        [*command, "--notify", notify],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    stderr = next((line for line in process.stderr if line.startswith("run 2: 30")), "")
    process.send_signal(signal.SIGTERM)
    stderr += process.communicate(timeout=120)[1]
    assert process.returncode == 130, stderr
    assert re.fullmatch(r".*: no verdict: stopped.*\n130\n", note.read_text(), re.DOTALL)


def test_a_gate_that_is_stopped_when_all_is_measured_measures_nothing_again(lanes: Lanes) -> None:
    plan, database = lanes.folder / "plan.yaml", lanes.folder / "railgauge.db"
    plan.write_text(plan.read_text().replace(", system_log: off", ""))
    lanes.gate("--set-missing")
    lanes.level(2, 0.9e9)
    (lanes.folder / "hold").touch()
    count = "SELECT count(*) FROM replication"
    with (
        command_line.Popen(
            [*command_line.COMMAND, "gate", str(plan), "--db", str(database)],
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        contextlib.closing(sqlite3.connect(database)) as stored,
    ):
        while stored.execute(count).fetchone() != (60,):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        assert stored.execute(count).fetchone() == (60,)
    assert process.returncode == 130, stderr
    assert "stopped" in stderr
    assert (
        sorted((run["state"], run["asked"]) for run in lanes.runs())[:2] == [("complete", 30)] * 2
    )


_LINKS = """\
hosts: [a, b, c]
links:
  - {{between: [a, b], rate: {rate}}}
  - {{between: [a, c], rate: 1Gbit/s}}
"""
_BOX_PLAN = """\
railgauge: 1
name: box
hosts_file: {hosts_file}
tests:
  - name: stream
    engine: tcp
    replications: 10
    order: random
    set: {{duration: 200ms, message: 100KiB, congestion: reno}}
"""


def _slower_links(box: Box, plan: Path, database: Path) -> list[str]:
    """Return the links whose throughput is called slower when one of them is shaped down."""
    output = ""
    measure = ("run", str(plan))
    baseline = ("baseline", "set", "box", "1", "2", "3")
    gate = ("gate", str(plan), "--json")
    for rate, steps in (
        ("1000Mbit/s", (measure, measure, measure, baseline)),
        ("970Mbit/s", (gate,)),
    ):
        box.write(_LINKS.format(rate=rate))
        box.up()
        for step in steps:
            completed = box.run(*step, "--db", str(database))
            assert completed.returncode in (0, 1), completed.stdout + completed.stderr
            output = completed.stdout
        assert box.down().returncode == 0
    return sorted(
        result["link"]
        for result in json.loads(output)["results"]
        if result["verdict"] == "slower" and result["metric"] == "throughput"
    )


@pytest.mark.long
def test_a_link_shaped_from_1000_to_970_mbit_is_found_and_named(
    box: Box, paced: Callable[..., object]
) -> None:
    plan = box.folder / "plan.yaml"
    plan.write_text(_BOX_PLAN.format(hosts_file=box.hosts_file))
    numbers = itertools.count()

    def measure() -> list[str]:
        return _slower_links(box, plan, box.folder / f"{next(numbers)}.db")

    # Where others take the CPU for long, a link doesn't reach its rate.
    paced(measure, lambda links: links == ["a→b", "b→a"])
