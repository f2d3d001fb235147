"""What a host *is*: one small module a source, reading apart from parsing.

To add a source: write a module like the ones here and name it in `SOURCES`. One program launch
reads the files of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from railgauge.errors import EnvironmentFailedError
from railgauge.facts import clock, cpu, kernel, memory, sockets, system
from railgauge.facts.source import Source
from railgauge.transport.base import Transport, run

SOURCES: tuple[Source, ...] = tuple(
    module.SOURCE for module in (system, kernel, cpu, memory, clock, sockets)
)


def gather(transport: Transport) -> dict[str, str]:
    """Return the facts of the transport's host, in order of source; EnvironmentFailedError."""
    paths = [path for source in SOURCES for path in source.paths]
    # grep names the file on each line and goes on past missing ones: one launch reads them all.
    try:
        done = run(transport, ["grep", "-sH", "", *paths], timeout=30)
    except TimeoutError as error:
        raise EnvironmentFailedError(
            f"host {transport.host} did not say within 30 s what it is: "
            "is /proc readable and the host not overloaded?"
        ) from error
    files = split(done.stdout, paths)
    facts: dict[str, str] = {}
    for source in SOURCES:
        facts.update(source.parse(files))
    return facts


def split(text: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return path -> lines from `grep -H ""`'s output."""
    wanted = frozenset(paths)
    files: dict[str, list[str]] = {}
    for line in text.splitlines():
        path, _, content = line.partition(":")
        if path in wanted:
            files.setdefault(path, []).append(content)
    return files
