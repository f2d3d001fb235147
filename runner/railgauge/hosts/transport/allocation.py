"""Programs on a node of the allocation we are in: each is a job step that its scheduler starts.

The scheduler's starter (Slurm's srun) forwards standard input and its end, and passes lines on as
they come. A POSIX sh over there starts the program, says when it does and how it ended: whatever
the starter's own messages are, a step that ended without that last word was lost.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from railgauge.base.errors import EnvironmentFailedError, HostUnreachableError
from railgauge.hosts.transport.archive import archive, unpack_command, write_failed, write_timed_out
from railgauge.hosts.transport.interface import Exit, StartedProcesses, Transport, shell_status
from railgauge.hosts.transport.local import LocalProcess, LocalTransport
from railgauge.schedulers.scheduler import Scheduler

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


class AllocationProcess:
    """A program in a step of its own. One thread reads it; any may end it or wait for it."""

    def __init__(
        self, host: str, starter: LocalProcess, scheduler: Scheduler, job: str, mark: str
    ) -> None:
        self._host = host
        self._starter = starter
        self._scheduler = scheduler
        self._job = job
        self._mark = mark
        self._killed = False

    @property
    def stdin_open(self) -> bool:
        """Whether closing its standard input would be news to it."""
        return self._starter.stdin_open

    def await_start(self, program: str) -> None:
        """Return once the program was started over there; raises what `Transport.start` does."""
        try:
            line = self._starter.read_line(_START_TIMEOUT)
        except TimeoutError:
            raise HostUnreachableError(
                f"{self._host}: {self._scheduler.starter} started nothing within "
                f"{_START_TIMEOUT:g} s: see `{self._scheduler.node_status}` and what else runs in "
                "the job"
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
        line = self._starter.read_line(timeout)
        if line is None and not self._killed:
            # A starter that lingers behind the end of the output is waited for by who asks for it.
            with contextlib.suppress(TimeoutError):
                self.wait(_LAST_WORDS)  # raises if it was lost
        return line

    def send_line(self, text: str) -> None:
        """See `Process.send_line`."""
        self._starter.send_line(text)

    def send(self, data: bytes) -> None:
        """Write `data` to its standard input, unless that is closed."""
        self._starter.send(data)

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        self._starter.close_stdin()

    def kill(self) -> None:
        """See `Process.kill`: the scheduler kills all of the step that it can."""
        self._killed = True
        self._starter.close_stdin()
        if self._ended(0):
            return
        with contextlib.suppress(EnvironmentFailedError):
            if self._scheduler.cancel(self._job, self._mark):
                self._ended(_LAST_WORDS)
        self._starter.kill()

    def wait(self, timeout: float | None = None) -> Exit:
        """See `Process.wait`."""
        ended = self._starter.wait(timeout)
        match = re.search(
            rf"^(?:.*{self._mark} begin\n)?(.*?){self._mark} end (\d+)\n", ended.stderr, re.DOTALL
        )
        if match is None and self._killed:
            return Exit(-9, ended.stderr.rpartition(f"{self._mark} begin\n")[2])
        if match is None:
            raise self._lost("lost while a program was running there")
        return Exit(shell_status(int(match[2])), match[1])

    def _ended(self, seconds: float) -> bool:
        try:
            self._starter.wait(seconds)
        except TimeoutError:
            return False
        return True

    def _lost(self, event: str) -> HostUnreachableError:
        with contextlib.suppress(TimeoutError):
            words = self._starter.wait(_LAST_WORDS).stderr.rpartition(f"{self._mark} begin\n")[2]
            words = " ".join(words.split())
            message = words[-300:] or f"{self._scheduler.starter} said nothing"
            if self._scheduler.job_ended.search(words):
                return HostUnreachableError(
                    f"{self._host}: {self._scheduler.title}'s job {self._job} has ended: "
                    f"{message}; go on in another one by `railgauge resume`"
                )
            return HostUnreachableError(f"{self._host}: {event}: {message}")
        return HostUnreachableError(f"{self._host}: {event}")


class AllocationTransport:
    """The node `node` of the allocation we are in, under the name `host` that the plan gives it."""

    has_shell = True

    def __init__(self, host: str, node: str, scheduler: Scheduler) -> None:
        self.host = host
        self.node = node
        self.scheduler = scheduler
        self._local = LocalTransport(host)
        self._started: StartedProcesses[AllocationProcess] = StartedProcesses(host)

    def start(self, argv: Sequence[str]) -> AllocationProcess:
        """See `Transport.start`."""
        self._started.check_open()
        scheduler = self.scheduler
        job = scheduler.current_job()
        if job is None:
            raise HostUnreachableError(
                f"{self.host}: its transport is {scheduler.name}, but {scheduler.outside}"
            )
        if shutil.which(scheduler.starter) is None:
            raise EnvironmentFailedError(
                f"{self.host}: there is no {scheduler.starter} in PATH, which starts the programs "
                f"on {scheduler.title}'s nodes"
            )
        mark = f"railgauge-{secrets.token_hex(8)}"
        step = [*scheduler.start(job, self.node, mark), "sh", "-c", _START, "sh", mark]
        process = AllocationProcess(
            self.host, self._local.start([*step, *argv]), scheduler, job, mark
        )
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


def broadcast(transports: Collection[Transport], content: bytes, path: str) -> bool:
    """Have the scheduler put a file on all these hosts, from node to node; return whether it did.

    It does where they are all the nodes of our job. `path` is absolute, its folder is there.
    Raises EnvironmentFailedError where the scheduler fails, or there is no room here for the file;
    it may be on some nodes, then.
    """
    nodes = [node for node in transports if isinstance(node, AllocationTransport)]
    schedulers = {transport.scheduler.name: transport.scheduler for transport in nodes}
    if len(nodes) < len(transports) or len(schedulers) != 1:
        return False
    (scheduler,) = schedulers.values()
    job = scheduler.current_job()
    if job is None:
        return False
    if {node.name for node in scheduler.nodes(job)} != {transport.node for transport in nodes}:
        return False
    with contextlib.ExitStack() as cleanup:
        try:
            file = cleanup.enter_context(tempfile.NamedTemporaryFile(prefix="railgauge-"))
            file.write(content)
            file.flush()
        except OSError as error:
            raise EnvironmentFailedError(
                f"can't write to the folder of temporary files: {error.strerror}"
            ) from error
        return scheduler.broadcast(job, Path(file.name), path)
