"""Files that users write, with mistakes anywhere: a message, never a traceback."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.chaos.campaign import Disaster, Finding, Place
from tests.chaos.measuring import Measuring
from tests.support import FIXTURES, ROOT

MUTANTS = 10
QUICKSTART = ROOT / "plans/quickstart.yaml"
OF_MUTANT = """\
railgauge: 1
name: mutant
engines: [{file}]
hosts: {{a: {{address: 127.0.0.1}}}}
links: {{l: {{from: a, to: a}}}}
tests: [{{name: t, engine: {engine}}}]
"""
# A folder's files, and the command that reads one, FILE being its mutant.
READERS: Sequence[tuple[Path, str, Sequence[str]]] = (
    (ROOT / "plans", "*.yaml", ("check", "FILE")),
    (
        ROOT / "plans/hosts",
        "*.yaml",
        ("check", str(QUICKSTART), "--hosts", "FILE"),
    ),
    (ROOT / "reports", "*.yaml", ("report", "1", "--out", "shown", "--spec", "FILE")),
    (ROOT / "reports/papers", "*.yaml", ("paper", "FILE", "--out", "shown")),
    (ROOT / "plans/testbeds", "*.yaml", ("testbed", "down", "FILE")),
    (ROOT / "engines/external", "*.yaml", ("check", "PLAN")),
    (
        FIXTURES,
        "*.csv",
        (
            "import",
            "csv",
            "FILE",
            "--engine=udp",
            "--link-name=a",
            "--metric=throughput=mbps:b/s",
        ),
    ),
)
WORDS = (
    *("", "~", "null", "off", "-1", "0", "1e999", "NaN", "99999999999999999999", "1.5", "10:30"),
    *("[]", "{}", "[[[[", "*x", "&x", "!!python/object:os.system", "%", "\t", "\x00", "\ufeff"),
    *(
        "ü€😀",
        "a" * 5000,
        "{{ 7 * 7 }}",
        "../../etc/passwd",
        "$(id)",
        "'",
        '"',
        "|",
        ">",
        "? ",
        "---",
    ),
    *(
        "1KiB",
        "-5s",
        "1e30Gbit/s",
        "5 parsecs",
        "true",
        "2026-02-30",
        "<script>",
        "\\",
        "#",
        ":",
        ",",
    ),
)


def mutate(place: Place, text: str) -> bytes:
    """Return the text with one to four mistakes in it."""
    chance = place.chance
    content = text.encode()
    for _ in range(chance.randrange(1, 5)):
        lines = content.split(b"\n")
        index = chance.randrange(len(lines))
        kind = chance.randrange(8)
        if kind == 0:
            del lines[index]
        elif kind == 1:
            lines.insert(index, chance.choice(lines))
        elif kind == 2:
            other = chance.randrange(len(lines))
            lines[index], lines[other] = lines[other], lines[index]
        elif kind == 3:
            words = lines[index].split(b" ")
            words[chance.randrange(len(words))] = chance.choice(WORDS).encode()
            lines[index] = b" ".join(words)
        elif kind == 4:
            key, _, _ = lines[index].partition(b":")
            lines[index] = key + b": " + chance.choice(WORDS).encode()
        elif kind == 5:
            lines[index] = b" " * chance.randrange(9) + lines[index].lstrip()
        elif kind == 6 and lines[index]:
            line = bytearray(lines[index])
            line[chance.randrange(len(line))] = chance.randrange(256)
            lines[index] = bytes(line)
        else:
            lines = lines[: index + 1]
        content = b"\n".join(lines)
    return content


def read_mutants(place: Place) -> list[Finding]:
    """Have railgauge read mutants; what it can't read is an error of ours, soon."""
    findings: list[Finding] = []
    measuring = place.lab("a run", lambda _: _a_run(place.folder.parent))
    for number in range(MUTANTS):
        folder, pattern, command = place.chance.choice(READERS)
        source = place.chance.choice(sorted(folder.glob(pattern)))
        file = measuring.folder / f"mutant{source.suffix}"
        file.write_bytes(mutate(place, source.read_text()))
        plan = measuring.folder / "of-mutant.yaml"
        plan.write_text(OF_MUTANT.format(file=file.name, engine=source.stem))
        words = {"FILE": str(file), "PLAN": str(plan)}
        ended = measuring.call(*(words.get(word, word) for word in command))
        problems = [*ended.findings(f"{command[0]} of a mutant of {source.name}")]
        if ended.code is not None and ended.code not in range(4):
            problems.append(
                Finding("internal error", f"exit code {ended.code}: {ended.output[-200:]}")
            )
        if problems:
            file.rename(place.folder / f"{number}-{source.name}")
        findings += problems
    return findings


def _a_run(parent: Path) -> Measuring:
    folder = parent / "a-run"
    folder.mkdir()
    measuring = Measuring(folder, figures=1, pings=1)
    ended = measuring.call("run", "plan.yaml")
    assert ended.code == 0, ended.output
    return measuring


DISASTERS = (
    Disaster("mutants", f"{MUTANTS} files with mistakes in them are read", read_mutants, 200, 10),
)
