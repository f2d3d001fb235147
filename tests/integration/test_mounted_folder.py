"""The plan of docs/soak.md that reads from a mounted folder, here without NFS and soakers."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support import ROOT, command_line
from tests.support.results import select


def test_the_documented_plan_reads_what_is_in_the_folder(tmp_path: Path) -> None:
    text = (ROOT / "docs/soak.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (plan,) = [example for example in examples if "/mnt/nfs" in example]
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (mounted / "file").write_bytes(bytes(1 << 20))
    (tmp_path / "as-documented.yaml").write_text(plan, encoding="utf-8")
    path = tmp_path / "nfs.yaml"
    # Soakers want an idle machine, which tests side by side are none.
    local_plan = re.sub(r"hosts: .*", "hosts: {here: {address: 127.0.0.1, transport: local}}", plan)
    local_plan = local_plan.replace("/mnt/nfs", str(mounted)).replace("    soak: true\n", "")
    for long, short in (("100MiB", "1MiB"), ("2s", "20ms"), ("replications: 3", "replications: 1")):
        local_plan = local_plan.replace(long, short)
    path.write_text(local_plan, encoding="utf-8")
    for words in (["check", "as-documented.yaml"], ["run", "nfs.yaml"]):
        result = command_line.railgauge(*words, cwd=tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
    rows = select(tmp_path, "SELECT test, metric, value, status FROM measurement")
    values = {(test, metric): value for test, metric, value, _ in rows}
    assert {status for *_, status in rows} <= {"ok", "suspect"}
    assert values["nfs", "bytes"] >= 65536
    assert values["nfs", "throughput"] > 0
    assert values["program", "wall_time"] > 0
