"""A real Slurm on this machine: munged, slurmctld and one slurmd a node, in a folder of their own.

The nodes are node1 and node2, both with the address 127.0.0.1 (with another one, which no interface
has, Open MPI's ranks do not find each other), each with a host name and a folder for temporary
files of its own (or ranks get in one another's way). Whoever has SLURM_CONF set to
`SlurmLab.config` can use srun, salloc, sbatch and scontrol. No accounting, no cgroups.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

TOOLS = (
    "unshare",
    "munged",
    "slurmctld",
    "slurmd",
    "srun",
    "sbatch",
    "salloc",
    "scontrol",
    "squeue",
)
NODES = ("node1", "node2")
_SECONDS = 120
_CONFIG = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
TmpFS={folder}/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2
SchedulerType=sched/builtin
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=300
KillWait=30
InactiveLimit=0
MinJobAge=300
MailProg=/bin/true
"""


def missing() -> str:
    """Return what this machine lacks for the lab, "" if nothing."""
    if os.geteuid() != 0:
        return "root, for slurmd"
    lacking = [tool for tool in TOOLS if _tool_path(tool) is None]
    return f"{' and '.join(lacking)} (Debian: slurm-wlm, munge)" if lacking else ""


def _tool_path(tool: str) -> str | None:
    return shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@dataclass
class SlurmLab:
    """A running Slurm; `config` is its slurm.conf, `daemons` what runs, by name."""

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        """What SLURM_CONF must say."""
        return self.folder / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        """Return our environment with SLURM_CONF and without anything of another allocation."""
        variables = {
            name: text for name, text in os.environ.items() if not name.startswith("SLURM_")
        }
        return {**variables, "SLURM_CONF": str(self.config)}

    def call(self, *command: str) -> str:
        """Run one of Slurm's programs to its end and return its output."""
        completed = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=_SECONDS
        )
        assert completed.returncode == 0, f"{' '.join(command)}: {completed.stderr}\n{self.logs()}"
        return completed.stdout

    def logs(self) -> str:
        """Return the end of every daemon's log."""
        logs = [
            f"== {log.name}\n{log.read_text(errors='replace')[-3000:]}"
            for log in sorted(self.folder.glob("*.log"))
        ]
        completed = subprocess.run(
            [
                "sh",
                "-c",
                "timeout 20 scontrol show nodes; timeout 20 scontrol show jobs; timeout 20 squeue",
            ],
            env=self.environment,
            capture_output=True,
            text=True,
        )
        return "\n".join([*logs, "== scontrol", completed.stdout[-6000:]])

    def start_node(self, node: str) -> None:
        """Start the slurmd of `node`, with that host name and a shared memory of its own.

        Open MPI names what ranks share by host, Slurm's job and step, which two labs have alike.
        """
        (self.folder / f"tmp-{node}").mkdir(exist_ok=True)
        script = 'hostname "$1" && mount -t tmpfs none /dev/shm && shift && exec "$@"'
        daemon = (_tool_path("slurmd") or "slurmd", "-D", "-N", node, "-f", str(self.config))
        own = ("unshare", "--uts", "--mount", "sh", "-c", script, "sh", node)
        self.start(f"slurmd-{node}", *own, *daemon)

    def start(self, name: str, *command: str) -> None:
        """Start a daemon that stays in the foreground; its output goes to NAME.log."""
        program = _tool_path(command[0])
        assert program is not None
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                [program, *command[1:]],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )

    def start_controller(self) -> None:
        """Start slurmctld with the state that the last one left, if there was one."""
        self.start("slurmctld", "slurmctld", "-D", "-f", str(self.config))

    def restart_controller(self) -> None:
        """Have another slurmctld take over, and return when the nodes are idle."""
        self.stop("slurmctld")
        self.start_controller()
        _await(self, lambda: _all_idle(self))

    def stop(self, name: str) -> None:
        """End a daemon."""
        daemon = self.daemons.pop(name)
        daemon.terminate()
        try:
            daemon.wait(60)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def states(self) -> dict[str, str]:
        """Return the state of each node, as sinfo tells it."""
        stdout = self.call("sinfo", "-h", "-N", "-o", "%N %T")
        return dict(zip(*[iter(stdout.split())] * 2, strict=True))

    def jobs(self) -> list[str]:
        """Return the ids of the jobs that have not ended."""
        states = "pending,running,completing,configuring,suspended"
        return self.call("squeue", "-h", "-o", "%A", "-t", states).split()

    def kill_node(self, node: str) -> None:
        """Kill a node's slurmd, its steps and what they run, and tell Slurm that it is down."""
        daemon = self.daemons.pop(f"slurmd-{node}")
        daemon.kill()
        daemon.wait()
        own_namespace = Path("/proc/self/ns/uts").readlink()
        for pid in self.processes():
            with contextlib.suppress(OSError):
                in_namespace = Path(f"/proc/{pid}/ns/uts").readlink() != own_namespace
                if in_namespace and self._hostname(pid) == node:
                    os.kill(pid, signal.SIGKILL)
        self.call("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")

    @staticmethod
    def _hostname(pid: int) -> str:
        inside = ["nsenter", "-t", str(pid), "-u", "hostname"]
        return subprocess.run(inside, capture_output=True, text=True).stdout.strip()

    def mend(self) -> None:
        """End all jobs, and start the nodes that a test took down."""
        # Not all that is left heeds the SIGTERM that a job's end begins with.
        for step in self.call("squeue", "-h", "-s", "-o", "%i").split():
            with contextlib.suppress(AssertionError):  # it has ended meanwhile
                self.call("scancel", "--signal=KILL", step)
        for job in self.jobs():
            self.call("scancel", job)
        for node in NODES:
            if f"slurmd-{node}" not in self.daemons:
                self.start_node(node)
            if self.states()[node].rstrip("*") not in ("idle", "completing"):
                with contextlib.suppress(AssertionError):  # it is up again by itself
                    self.call("scontrol", "update", f"nodename={node}", "state=resume")
        self.await_idle()

    def allocate(self, *options: str) -> str:
        """Return the id of a new allocation without a shell; `cancel` ends it."""
        arguments = ("--quiet", "--no-shell", "--nodes=2", "--exclusive", "--no-kill", *options)
        for left in reversed(range(4)):
            before = set(self.jobs())
            try:
                self.call("timeout", "30", "salloc", *arguments)
            except AssertionError:
                if not left:
                    raise
                # Now and then slurmctld lets jobs wait for ever for nodes that are idle.
                for job in set(self.jobs()) - before:
                    self.call("scancel", job)
                self.restart_controller()
            else:
                break
        (job,) = set(self.jobs()) - before
        return job

    def cancel(self, job: str) -> None:
        """End a job and return when its nodes are free."""
        self.call("scancel", job)
        self.await_idle()

    def state_of(self, job: str) -> str:
        """Return the state of a job, ended or not: RUNNING, COMPLETED, TIMEOUT …"""
        return self.call("squeue", "-h", "-t", "all", "-j", job, "-o", "%T").strip()

    def processes(self) -> list[int]:
        """Return what runs with our SLURM_CONF: daemons, steps and their tasks, clients."""
        variable = f"SLURM_CONF={self.config}".encode()
        pids = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if variable in environment.read_bytes().split(b"\0"):
                    pids.append(int(environment.parent.name))
        return pids

    def await_idle(self, seconds: float = _SECONDS) -> None:
        """Return once no job is left and both nodes are idle."""
        deadline = time.monotonic() + seconds
        while self.jobs() or set(self.states().values()) != {"idle"}:
            assert time.monotonic() < deadline, f"{self.states()} {self.jobs()}\n{self.logs()}"
            time.sleep(0.1)


@contextlib.contextmanager
def slurm() -> Iterator[SlurmLab]:
    """Run a Slurm of two nodes; everything of it is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="railgauge-slurm-"))
    lab = SlurmLab(folder)
    try:
        _configure(lab)
        lab.start("munged", "munged", "--foreground", "--force", *_munge_files(folder))
        _await(lab, (folder / "munge.socket").exists)
        lab.start_controller()
        for node in NODES:
            lab.start_node(node)
        _await(lab, lambda: _all_idle(lab))
        yield lab
    finally:
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            for job in lab.jobs():
                lab.call("scancel", job)
            lab.await_idle(10)
        for name in reversed(tuple(lab.daemons)):
            lab.stop(name)
        for pid in lab.processes():  # a slurmstepd that hangs, and what it started
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder)


def _munge_files(folder: Path) -> tuple[str, ...]:
    names = {"key-file": "key", "socket": "socket", "log-file": "log"}
    names |= {"pid-file": "pid", "seed-file": "seed"}
    return tuple(f"--{option}={folder}/munge.{name}" for option, name in names.items())


def _configure(lab: SlurmLab) -> None:
    key = lab.folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    ports = _free_ports(1 + len(NODES))
    host = socket.gethostname().partition(".")[0]
    text = _CONFIG.format(cluster=f"rg{os.getpid()}", host=host, port=ports[0], folder=lab.folder)
    for index, node in enumerate(NODES):
        text += (
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 "
            f"Port={ports[index + 1]} CPUs={os.cpu_count()} State=UNKNOWN\n"
        )
    text += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    lab.config.write_text(text)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]


def _all_idle(lab: SlurmLab) -> bool:
    completed = subprocess.run(
        ["sinfo", "-h", "-N", "-o", "%T"], env=lab.environment, capture_output=True, text=True
    )
    return completed.stdout.split() == ["idle"] * len(NODES)


def _await(lab: SlurmLab, ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not ready():
        for name, daemon in lab.daemons.items():
            assert daemon.poll() is None, f"{name} ended\n{lab.logs()}"
        assert time.monotonic() < deadline, lab.logs()
        time.sleep(0.05)
