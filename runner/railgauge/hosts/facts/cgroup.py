"""What the control group lets programs have: CPU time, memory and CPUs.

Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1/ there. A limit of any group above counts as
much as the own one's, so the script climbs up; the tightest is the fact.
"""

from __future__ import annotations

from collections.abc import Iterable

from railgauge.hosts.facts.source import FactSource, Files, first

# Of a container in version 1 the group's path is the host's, and its files stand at the mount.
_SCRIPT = """
climb() {
    group=$2; [ -d "$1$group" ] || group=
    while :; do
        for name in $3; do
            if [ -r "$1$group/$name" ]; then say "cgroup/$name" <"$1$group/$name"; fi
        done
        [ -n "$group" ] || break
        group=${group%/*}
    done
}
root=/sys/fs/cgroup
while IFS=: read -r number controllers path; do
    [ "$path" = / ] && path=
    case $number:$controllers in
    0:) base=$root; [ -e $root/unified/cgroup.procs ] && base=$root/unified
        [ -e $base/cgroup.procs ] && echo cgroup/version:2
        climb $base "$path" 'cpu.max memory.max memory.swap.max cpuset.cpus.effective' ;;
    *) case ,$controllers, in
        *,cpu,*) climb $root/cpu "$path" 'cpu.cfs_quota_us cpu.cfs_period_us' ;;
        *,memory,*) climb $root/memory "$path" memory.limit_in_bytes ;;
        *,cpuset,*) climb $root/cpuset "$path" cpuset.effective_cpus ;;
        esac
        [ -d $root/cpu ] && echo cgroup/version:1 ;;
    esac
done </proc/self/cgroup
"""
# Version 1 says "no limit" by the largest number that its pages have room for.
_NO_LIMIT = 2**62


def parse(files: Files) -> dict[str, str]:
    """Return `cgroup.versions`, `.cpu_limit` (in CPUs), `.memory_limit` (bytes), `.cpuset`.

    A limit that isn't there is `none`.
    """
    facts = {}
    if versions := files.get("cgroup/version"):
        facts["cgroup.versions"] = ", ".join(sorted(set(versions)))
    if shares := list(_shares(files)):
        least = min(shares)
        facts["cgroup.cpu_limit"] = f"{least:g} CPUs" if least < _NO_LIMIT else "none"
    for fact, names in (
        ("memory_limit", ("memory.max", "memory.limit_in_bytes")),
        ("swap_limit", ("memory.swap.max",)),
    ):
        lines = [line for name in names for line in files.get("cgroup/" + name, ())]
        if lines:
            limit = min(int(line) if line.isdecimal() else _NO_LIMIT for line in lines)
            facts[f"cgroup.{fact}"] = str(limit) if limit < _NO_LIMIT else "none"
    for name in ("cpuset.cpus.effective", "cpuset.effective_cpus"):
        if cpus := first(files, "cgroup/" + name):
            facts["cgroup.cpuset"] = cpus
    return facts


def _shares(files: Files) -> Iterable[float]:
    """Yield how many CPUs each group on the way up may use, at least _NO_LIMIT for any number."""
    for line in files.get("cgroup/cpu.max", ()):
        quota, _, period = line.partition(" ")
        yield _ratio(quota, period)
    quotas = files.get("cgroup/cpu.cfs_quota_us", ())
    for quota, period in zip(quotas, files.get("cgroup/cpu.cfs_period_us", ()), strict=False):
        yield _ratio(quota, period)


def _ratio(quota: str, period: str) -> float:
    if not quota.isdecimal() or not period.isdecimal() or not int(period):
        return float(_NO_LIMIT)  # "max", or -1 in version 1
    return int(quota) / int(period)


SOURCE = FactSource((), parse, _SCRIPT)
