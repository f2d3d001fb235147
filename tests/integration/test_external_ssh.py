"""Other people's programs on hosts behind real sshds: quotes, line breaks and long files arrive."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import command_line
from tests.support.results import select
from tests.support.sshlab import Lab

# Whatever a shell, a terminal or an encoding could take for its own.
AWKWARD = "a 'b' \"c\" $HOME `id` \\n \\\\ %s {{x}} !1 ; é → 😀\ttab\n\n#end"
PROGRAM = """\
railgauge_engine: 1
name: echoes
summary: Says how long its files and its argument are
parameters: {text: {type: text}}
command: [sh, -c, 'wc -c <short; wc -c <long; printf %s "$1" | wc -c', sh, "{text}"]
files: FILES
metrics:
  short: {unit: B, better: neither, regex: '(\\d+)\\n'}
  long: {unit: B, better: neither, regex: '\\d+\\n(\\d+)'}
  text: {unit: B, better: neither, regex: '\\d+\\n\\d+\\n(\\d+)'}
"""
TEXT = 'it\'s "$1" `x` \\ {}'


def test_files_and_arguments_arrive_over_ssh_as_they_are(tmp_path: Path, lab: Lab) -> None:
    long = "x'\"\n" * 16_000
    files = json.dumps({"short": AWKWARD, "long": long}, ensure_ascii=False)
    (tmp_path / "echoes.yaml").write_text(PROGRAM.replace("FILES", files))
    plan = {
        "railgauge": 1,
        "name": "echoes",
        "engines": ["echoes.yaml"],
        "hosts": {"a": {"address": lab.a.address, "ssh": "host-a"}},
        "tests": [
            {
                "name": "t",
                "engine": "echoes",
                "hosts": ["a"],
                "replications": 1,
                "set": {"text": TEXT},
            }
        ],
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    completed = command_line.railgauge("run", "plan.yaml", cwd=tmp_path)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    metrics = dict(select(tmp_path, "SELECT metric, value FROM measurement"))
    expected = {
        "short": len(AWKWARD.replace("{{", "{").replace("}}", "}").encode()),
        "long": len(long),
        "text": len(TEXT),
    }
    assert {name: metrics[name] for name in expected} == expected
