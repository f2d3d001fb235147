"""Programs on a node of the Slurm allocation we are in: each is a job step that an srun starts.

srun forwards standard input and its end, and passes lines on as they come. A POSIX sh over there
starts the program, says when it does and how it ended: whatever srun's own messages are, a step
that ended without that last word was lost.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import threading
from collections.abc import Mapping, Sequence

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.archive import archive, unpack_command, write_failed, write_timed_out
from railgauge.hosts.transport.interface import Exit, StartedProcesses, shell_status
from railgauge.hosts.transport.local import LocalProcess, LocalTransport
from railgauge.schedulers.slurm.allocation import OUTSIDE, ask, current_job, inherited

_START_TIMEOUT = 60.0
_PUT_TIMEOUT = 60.0
_LAST_WORDS = 5.0
# $1 is a mark, the rest the program. Slurm asks all processes of a job to end by SIGTERM, some
# time before it kills them: the controller, which is asked as well, ends them in good order.
_START = (
    'mark=$1; shift; cd 2>/dev/null; command -v "$1" >/dev/null || { echo "$mark missing"; exit 0; '
    '}; trap "" TERM; echo "$mark begin" >&2; '
    'echo "$mark ready"; '
    '"$@"; status=$?; echo "$mark end $status" >&2; exit $status'
)


class SlurmProcess:
    """A program in a step of its own. One thread reads it; any may end it or wait for it."""

    def __init__(self, host: str, srun: LocalProcess, job: str, mark: str) -> None:
        self._host = host
        self._srun = srun
        self._job = job
        self._mark = mark
        self._killed = False

    @property
    def stdin_open(self) -> bool:
        """Whether closing its standard input would be news to it."""
        return self._srun.stdin_open

    def await_start(self, program: str) -> None:
        """Return once the program was started over there; raises what `Transport.start` does."""
        try:
            line = self._srun.read_line(_START_TIMEOUT)
        except TimeoutError:
            raise HostUnreachableError(
                f"{self._host}: srun started nothing within {_START_TIMEOUT:g} s: see "
                "`scontrol show node` and what else runs in the job"
            ) from None
        if line is None:
            raise self._lost("no program could be started there")
        if line == f"{self._mark} missing":
            raise EnvironmentFailedError(
                f"{self._host}: can't start {program!r}: it isn't there or may not be run; "
                "check its spelling, PATH and permissions"
            )

    def read_line(self, timeout: float | None = None) -> str | None:
        """See `Process.read_line`."""
        line = self._srun.read_line(timeout)
        if line is None and not self._killed:
            self.wait(_LAST_WORDS)  # raises if it was lost
        return line

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        self._srun.send_line(text)

    def send(self, data: bytes) -> None:
        """Write `data` to its standard input, unless that is closed."""
        self._srun.send(data)

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        self._srun.close_stdin()

    def kill(self) -> None:
        """See `Process.kill`: Slurm kills all of the step, also what left its process group."""
        self._killed = True
        self._srun.close_stdin()
        if self._ended(0):
            return
        with contextlib.suppress(EnvironmentFailedError):
            if steps := self._steps():
                ask(["scancel", *steps])
                self._ended(_LAST_WORDS)
        self._srun.kill()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        ended = self._srun.wait(timeout)
        match = re.search(
            rf"^(?:.*{self._mark} begin\n)?(.*?){self._mark} end (\d+)\n", ended.stderr, re.DOTALL
        )
        if match is None and self._killed:
            return Exit(-9, ended.stderr.rpartition(f"{self._mark} begin\n")[2])
        if match is None:
            raise self._lost("lost while a program was running there")
        return Exit(shell_status(int(match[2])), match[1])

    def _steps(self) -> list[str]:
        """Return the ids of the steps with our name: our own, and one that it started for MPI."""
        lines = ask(["squeue", "-h", "-s", "-j", self._job, "-o", "%i %j"]).splitlines()
        pairs = [line.partition(" ") for line in lines]
        return [step for step, _, name in pairs if name == self._mark]

    def _ended(self, seconds: float) -> bool:
        try:
            self._srun.wait(seconds)
        except TimeoutError:
            return False
        return True

    def _lost(self, event: str) -> HostUnreachableError:
        with contextlib.suppress(TimeoutError):
            words = self._srun.wait(_LAST_WORDS).stderr.rpartition(f"{self._mark} begin\n")[2]
            message = " ".join(words.split())[-300:] or "srun said nothing"
            return HostUnreachableError(f"{self._host}: {event}: {message}")
        return HostUnreachableError(f"{self._host}: {event}")


class SlurmTransport:
    """The node `node` of the allocation we are in, under the name `host` that the plan gives it."""

    def __init__(self, host: str, node: str) -> None:
        self.host = host
        self._node = node
        self._local = LocalTransport(host)
        self._started: StartedProcesses[SlurmProcess] = StartedProcesses(host)

    def start(self, argv: Sequence[str]) -> SlurmProcess:
        """See `Transport.start`."""
        self._started.check_open()
        job = current_job()
        if job is None:
            raise HostUnreachableError(f"{self.host}: its transport is slurm, but {OUTSIDE}")
        if shutil.which("srun") is None:
            raise EnvironmentFailedError(
                f"{self.host}: there is no srun in PATH, which starts the programs on Slurm's nodes"
            )
        mark = f"railgauge-{secrets.token_hex(8)}"
        step = [*srun(job), f"--job-name={mark}", f"--nodelist={self._node}", "--nodes=1"]
        script = ["--ntasks=1", "--mpi=none", "sh", "-c", _START, "sh", mark]
        process = SlurmProcess(self.host, self._local.start([*step, *script, *argv]), job, mark)
        self._started.add(process)
        try:
            self._started.check_open()
            process.await_start(argv[0])
        except BaseException:
            process.kill()
            raise
        return process

    def put(self, files: Mapping[str, bytes], directory: str) -> None:
        """See `Transport.put`: one archive, unpacked by the tar over there, for homes differ."""
        process = self.start(unpack_command(directory))
        timer = threading.Timer(_PUT_TIMEOUT, process.kill)
        timer.start()
        try:
            process.send(archive(files))
            process.close_stdin()
            ended = process.wait()
        finally:
            timer.cancel()
        if ended.status == -9:
            raise write_timed_out(self.host, directory, _PUT_TIMEOUT)
        if ended.status != 0:
            raise write_failed(self.host, directory, ended)

    def close(self) -> None:
        """See `Transport.close`."""
        self._started.close()
        self._started.end()
        self._local.close()


def srun(job: str) -> list[str]:
    """Return the start of a command line for a step in `job`: beside other steps, unbound.

    Without the variables by which a job's options would change what srun does.
    """
    forgotten = [part for name in inherited() for part in ("-u", name)]
    options = ["--overlap", "--overcommit", "--mem=0", "--cpu-bind=none", "--chdir=/", "--quiet"]
    return ["env", *forgotten, "srun", f"--jobid={job}", *options]
