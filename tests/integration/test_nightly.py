"""What docs/nightly/ and plans/nightly.yaml hand to a site, used as a site would."""

from __future__ import annotations

import configparser
import contextlib
import http.server
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support import clusterlab, command_line
from tests.support.clusterlab import Cluster
from tests.support.results import select
from tests.support.slurmlab import SlurmLab

ROOT = Path(__file__).resolve().parents[2]
NIGHTLY = ROOT / "docs" / "nightly"
SITE = "/srv/railgauge"
PATIENCE = 300
PLAN = """\
railgauge: 1
name: nightly
hosts: {here: {address: 127.0.0.1, transport: local}}
links: {loopback: {from: here, to: here}}
smallest_change: 90%
tests:
  - name: t
    engine: tcp
    set: {mode: stream, duration: 0.5s, rate: 50Mbit/s, congestion: reno}
    replications: 6
"""
NOTIFY = """\
#!/bin/sh
{ echo "exit $RAILGAUGE_EXIT"; cat; } > "${0%/*}/told"
"""
RAILGAUGE = f"""\
#!/bin/sh
PYTHONPATH={shlex.quote(str(ROOT / "runner"))} exec {shlex.quote(sys.executable)} -m railgauge "$@"
"""


@dataclass
class Site:
    """A folder as the page has it set up, in a place of its own."""

    folder: Path

    def file(self, name: str) -> Path:
        """Put a file of docs/nightly/ in, with this folder in place of the one it names."""
        path = self.folder / name
        text = (NIGHTLY / name).read_text().replace(SITE, str(self.folder))
        path.write_text(text)
        path.chmod(0o755)
        return path

    def executable(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return select(self.folder, sql)

    def first_run(self) -> None:
        """Have the first run become the baseline, by the page's command."""
        (command,) = re.findall(
            "^    (.* --set-missing)$", (NIGHTLY / "README.md").read_text(), re.M
        )
        completed = call(shlex.split(command), self.folder)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        assert "run 1 is baseline nightly now" in completed.stdout

    def assert_a_night_passed(self, number: int = 2) -> None:
        """Check what a night leaves: a run, the summary written and told; and the baseline."""
        assert self.query("SELECT state FROM run") == [("complete",)] * number
        assert self.query("SELECT name FROM baseline") == [("nightly",)]
        notification = (self.folder / "told").read_text()
        assert notification.startswith("exit 0\n")
        assert "nightly" in notification
        written = (self.folder / "nightly.md").read_text()
        assert ("nothing to compare with yet" in written) == (number == 1)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "site")
    site.executable("venv/bin/railgauge", RAILGAUGE)
    site.executable("notify", NOTIFY)
    (site.folder / "nightly.yaml").write_text(PLAN)
    return site


def call(argv: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a daemon would: with hardly any environment."""
    variables = {
        name: os.environ[name] for name in ("RAILGAUGE_LOCK", "HOME") if name in os.environ
    }
    return subprocess.run(
        argv,
        cwd=cwd,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **variables, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_what_is_called_is_the_railgauge_of_this_checkout(site: Site) -> None:
    (site.folder / "quickstart.yaml").touch()
    completed = call([f"{site.folder}/venv/bin/railgauge", "check", "quickstart"], site.folder)
    assert str(ROOT / "plans" / "quickstart.yaml") in completed.stderr


# systemd


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


def verify(*paths: Path) -> str:
    """What systemd-analyze has to say about units; others of this machine are not ours."""
    completed = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return "\n".join(line for line in completed.stderr.splitlines() if "railgauge" in line)


def test_systemd_finds_nothing_wrong_with_the_units(
    site: Site, require: Callable[[object, str], None]
) -> None:
    require(shutil.which("systemd-analyze"), "systemd-analyze (Debian: systemd)")
    service, timer = (site.file(f"railgauge-nightly.{kind}") for kind in ("service", "timer"))
    for path in (service, timer):
        path.chmod(0o644)
    assert verify(service, timer) == ""
    # It does look.
    service.write_text(service.read_text().replace("KillMode", "KilMode"))
    assert "KilMode" in verify(service)
    when = unit(timer)["Timer"]["OnCalendar"]
    completed = subprocess.run(
        ["systemd-analyze", "calendar", "--iterations=2", when], capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    assert len(re.findall("02:15:00", completed.stdout)) >= 2


def test_the_service_s_command_compares_with_the_baseline(site: Site) -> None:
    site.first_run()
    completed = serve(site)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    site.assert_a_night_passed()
    assert "slower" in (site.folder / "nightly.md").read_text()


def test_a_night_that_finds_no_database_fails_and_measures_nothing(site: Site) -> None:
    completed = serve(site)
    assert completed.returncode == 2, completed.stdout + completed.stderr
    assert f"there is no database {site.folder}/railgauge.db" in completed.stderr
    assert (site.folder / "told").read_text().startswith("exit 2\n")
    assert not (site.folder / "railgauge.db").exists()


def serve(site: Site) -> subprocess.CompletedProcess[str]:
    """Run the service's command as systemd would."""
    service = unit(site.file("railgauge-nightly.service"))["Service"]
    name, _, value = service["Environment"].partition("=")
    command = shlex.split(service["ExecStart"])
    return call(command, Path(service["WorkingDirectory"]), **{name: value})


def test_only_the_first_run_makes_a_baseline() -> None:
    """After a disk was lost the next night would become the baseline, and pass."""
    for file in NIGHTLY.iterdir():
        lines = file.read_text().splitlines()
        commands = [line for line in lines if "railgauge gate" in line and line[:1] != "#"]
        setting = [line for line in commands if "--set-missing" in line]
        assert len(setting) == (file.name == "README.md"), file


# cron


def test_the_crontab_s_command_runs_as_cron_runs_it(site: Site) -> None:
    environment, entries = {}, []
    for line in site.file("crontab").read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if match := re.fullmatch(r"(\w+)=(.*)", line):
            environment[match[1]] = match[2]
        else:
            entries.append(line.split(None, 5))
    ((minute, hour, *days, command),) = entries
    assert 0 <= int(minute) < 60
    assert 0 <= int(hour) < 24
    assert days == ["*", "*", "*"]
    assert "%" not in command  # cron would end the line there
    site.first_run()
    completed = call(["/bin/sh", "-c", command], Path("/"), **environment)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    site.assert_a_night_passed()


# Slurm


def test_the_batch_script_measures_the_nodes_of_its_job(site: Site, slurm: SlurmLab) -> None:
    text = PLAN.replace(
        "hosts: {here: {address: 127.0.0.1, transport: local}}", "hosts: {slurm: all}"
    ).replace("links: {loopback: {from: here, to: here}}", "links: {fabric: all-pairs}")
    (site.folder / "nightly.yaml").write_text(text)
    script = str(site.file("nightly.sbatch"))
    for night, arguments in enumerate((["--set-missing"], []), 1):
        job = slurm.call("sbatch", "--parsable", script, *arguments).strip()
        slurm.await_idle(PATIENCE)
        output = (site.folder / f"nightly-{job}.out").read_text()
        assert slurm.state_of(job) == "COMPLETED", output
        site.assert_a_night_passed(night)
    assert sorted(site.query("SELECT DISTINCT link FROM measurement")) == [
        ("node1→node2",),
        ("node2→node1",),
    ]


# GitHub


def workflow(site: Site) -> dict[str, Any]:
    content = yaml.load(site.file("github-actions.yml").read_text(), Loader=yaml.BaseLoader)
    assert isinstance(content, dict)
    return content


def test_the_workflow_is_one_that_github_takes(site: Site) -> None:
    content = workflow(site)
    assert content.keys() == {"name", "on", "concurrency", "permissions", "jobs"}
    assert content["concurrency"]["cancel-in-progress"] == "false"
    (schedule,) = content["on"]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", schedule["cron"])
    (job,) = content["jobs"].values()
    assert "self-hosted" in job["runs-on"]
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert step.keys() <= {"uses", "run", "name", "if", "with"}
        assert re.fullmatch(r"[\w/-]+@v\d+", step.get("uses", "a@v1"))


def test_the_workflow_s_steps_measure_and_write_what_it_keeps(site: Site) -> None:
    (job,) = workflow(site)["jobs"].values()
    checkout = site.folder / "checkout"
    checkout.mkdir()
    site.first_run()
    (site.folder / "nightly.yaml").rename(checkout / "nightly.yaml")
    summary = site.folder / "summary"
    for step in job["steps"]:
        if "run" not in step:
            continue
        # As the runner does by default.
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        completed = call(argv, checkout, **job["env"], GITHUB_STEP_SUMMARY=str(summary))
        assert completed.returncode == 0, completed.stdout + completed.stderr
    assert site.query("SELECT name FROM baseline") == [("nightly",)]
    artifacts = job["steps"][-1]["with"]["path"].split()
    assert len(artifacts) >= 2
    for name in artifacts:
        assert (checkout / name).exists(), name
    assert summary.read_text().strip()


# Telling somebody


def notify(script: Path, code: int, summary: str, **environment: str) -> None:
    completed = subprocess.run(
        [script],
        input=summary,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "RAILGAUGE_EXIT": str(code), **environment},
    )
    assert completed.returncode == 0, completed.stderr


def test_the_mail_has_the_verdict_as_its_subject_and_comes_only_with_news(site: Site) -> None:
    site.executable("bin/mail", '#!/bin/sh\n{ printf "%s\\n" "$@"; cat; } > "${0%/*}/mailed"\n')
    path = f"{site.folder}/bin:{os.environ['PATH']}"
    script = site.file("notify-mail")
    notify(script, 0, "all the same\n", PATH=path)
    assert not (site.folder / "bin/mailed").exists()
    notify(
        script, 1, "nightly: 1 case is slower\n\n$(reboot) `x`\n", PATH=path, RAILGAUGE_MAIL="a@b"
    )
    assert (site.folder / "bin/mailed").read_text() == (
        "-s\nrailgauge: nightly: 1 case is slower\na@b\n"
        "nightly: 1 case is slower\n\n$(reboot) `x`\n"
    )


class Webhook(http.server.BaseHTTPRequestHandler):
    """Keeps what is posted."""

    posted: list[Any]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.posted.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Any]]]:
    posted: list[Any] = []
    handler = type("Handler", (Webhook,), {"posted": posted})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/secret", posted
        server.shutdown()
        thread.join()


def test_the_webhook_gets_the_summary_as_a_message(
    site: Site, webhook: tuple[str, list[Any]], require: Callable[[object, str], None]
) -> None:
    require(shutil.which("curl"), "curl")
    address, posted = webhook
    (site.folder / "webhook").write_text(f'url = "{address}"\n')
    script = site.file("notify-webhook")
    notify(script, 0, "all the same\n", no_proxy="*")
    assert posted == []
    notify(script, 1, 'n1→n2 is "slower"\nby 3 %\n', no_proxy="*")
    message = {"text": 'n1→n2 is "slower"\nby 3 %\n'}
    assert posted == [("/secret", "application/json", message)]


# The plan


def railgauge(*arguments: object) -> subprocess.CompletedProcess[str]:
    return command_line.railgauge(*map(str, arguments), timeout=PATIENCE)


def test_the_shipped_plan_is_valid_with_its_example_of_hosts() -> None:
    completed = railgauge("check", ROOT / "plans/nightly.yaml")
    assert completed.returncode == 0, completed.stderr
    assert "16 cases" in completed.stdout


def test_the_shipped_plan_measures_links_and_nodes_when_it_is_shortened(tmp_path: Path) -> None:
    text = (ROOT / "plans/nightly.yaml").read_text()
    for long, short in (
        ("span: 10min, ", ""),
        ("min: 10, max: 30", "min: 6, max: 7"),
        ("duration: 2s", "duration: 500ms"),
        ("duration: 1s", "duration: 100ms"),
        ("block: 512MiB", "block: 1MiB"),
    ):
        assert long in text
        text = text.replace(long, short)
    (tmp_path / "nightly.yaml").write_text(text)
    hosts = ROOT / "plans/hosts/this-machine.yaml"
    database = tmp_path / "results.db"
    completed = railgauge("run", tmp_path / "nightly.yaml", "--hosts", hosts, "--db", database)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(
            "SELECT test, link, count(DISTINCT replication) FROM measurement "
            "WHERE metric IN ('throughput', 'rtt_p50', 'operation_rate') GROUP BY test ORDER BY 1"
        ).fetchall()
    assert [name for name, *_ in rows] == ["cpu", "latency", "memory", "throughput"]
    assert all(6 <= count <= 7 for *_, count in rows), rows


# A node that is down


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, namespaces: None) -> Iterator[Cluster]:
    with clusterlab.running(tmp_path_factory.mktemp("nightly")) as cluster:
        cluster.write_config(d="ConnectTimeout 5")
        yield cluster


def test_with_a_node_down_the_rest_is_measured_and_later_what_is_missing(
    cluster: Cluster, tmp_path: Path
) -> None:
    hosts = {
        name: {"address": host.address, "ssh": f"host-{name}"}
        for name, host in cluster.hosts.items()
    }
    plan = tmp_path / "plan.yaml"
    test = {"name": "t", "engine": "udp", "set": {"mode": "latency", "duration": "100ms"}}
    content = {"railgauge": 1, "name": "nightly", "hosts": hosts, "links": {"r": {"ring": ["all"]}}}
    plan.write_text(yaml.safe_dump({**content, "tests": [{**test, "replications": 2}]}))
    database = tmp_path / "results.db"

    def links() -> set[str]:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            rows = connection.execute("SELECT DISTINCT link FROM measurement").fetchall()
            return {link for (link,) in rows}

    down = cluster.hosts["d"]
    down.link("down")
    try:
        without = railgauge("run", plan, "--db", database)
        assert without.returncode == 3
        assert "d: " in without.stderr
        completed = railgauge("run", plan, "--db", database, "--keep-going")
    finally:
        cluster.revive(down)
    assert completed.returncode == 1, completed.stdout + completed.stderr
    assert "left out: d: " in completed.stderr
    assert "4 measured, 4 missing" in completed.stdout
    assert "missing because of d; once reachable" in completed.stdout
    assert links() == {"e→f", "f→c"}

    again = railgauge("resume", 1, "--db", database)
    assert again.returncode == 0, again.stdout + again.stderr
    assert links() == {"c→d", "d→e", "e→f", "f→c"}


def test_with_all_nodes_down_nothing_is_begun(cluster: Cluster, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    hosts = {"d": {"address": cluster.hosts["d"].address, "ssh": "host-d"}}
    test = {"name": "t", "engine": "cpu", "set": {"duration": "100ms"}, "replications": 2}
    content = {"railgauge": 1, "name": "nightly", "hosts": hosts, "tests": [test]}
    plan.write_text(yaml.safe_dump(content))
    cluster.hosts["d"].link("down")
    try:
        completed = railgauge("run", plan, "--db", tmp_path / "results.db", "--keep-going")
    finally:
        cluster.revive(cluster.hosts["d"])
    assert completed.returncode == 3
    assert "d: " in completed.stderr
    assert "Traceback" not in completed.stderr
