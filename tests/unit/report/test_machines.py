"""The appendix of facts: grouped, once where hosts are alike, and readable for a thousand hosts."""

from __future__ import annotations

from collections.abc import Mapping

from railgauge.report.pages.machines import Machines, in_short, make_machines
from railgauge.store.records import NewRun, Peak, StoredRun


def _machines(facts: Mapping[str, Mapping[str, str]], *peaks: Peak) -> Machines:
    new = NewRun("fabric", "", "", "", False, 7, "ctl", "0.1.0", "", {})
    return make_machines(StoredRun(new, "complete", facts, 1, "", "", (), peaks))


def _facts(**more: str) -> dict[str, str]:
    nic = {f"nic.eth0.{name}": "x" for name in ("driver", "mtu", "rings")}
    mitigations = {f"mitigation_{name}": "none" for name in ("mds", "l1tf", "srbds", "retbleed")}
    return {"cpu": "EPYC", "kernel": "6.18", "numa_nodes": "2", **nic, **mitigations, **more}


def test_facts_that_belong_together_are_one_group() -> None:
    groups = _machines({"gw1": _facts()}).groups
    assert {group.title: len(group.rows) for group in groups} == {
        "General": 3,
        "mitigation": 4,
        "nic.eth0": 3,
    }
    assert [group.open for group in groups] == [True, False, False]


def test_a_fact_that_few_hosts_share_stands_once_and_others_by_host() -> None:
    machines = _machines({"gw1": _facts(), "hh1": _facts(kernel="6.1")})
    assert machines.columns == ("gw1", "hh1")
    rows = {row.name: row for row in machines.groups[0].rows}
    assert rows["cpu"].cells == (("EPYC", 2),)
    assert rows["kernel"].cells == (("6.18", 1), ("6.1", 1))
    assert (rows["cpu"].differs, rows["kernel"].differs) == (False, True)
    assert machines.note == "10 facts of 2 hosts, 1 of them not the same on all."


def test_a_fact_that_only_one_host_has_differs() -> None:
    machines = _machines({"gw1": _facts(swap="off"), "hh1": _facts()})
    (row,) = [row for row in machines.groups[0].rows if row.name == "swap"]
    assert row.cells == (("off", 1), ("–", 1))
    assert row.differs


def test_of_a_thousand_hosts_values_are_listed_with_their_hosts() -> None:
    hosts = {f"n{i:04}": _facts(hostname=f"n{i:04}") for i in range(1000)}
    hosts["n0500"] = _facts(hostname="n0500", kernel="6.1")
    machines = _machines(hosts)
    rows = [(row.name, row.cells[0].text, row.cells[1].text) for row in machines.groups[0].rows]
    assert ("cpu", "EPYC", "all") in rows
    assert ("kernel", "6.1", "n0500") in rows
    assert ("kernel", "6.18", "n0000, n0001, n0002, n0003, n0004, n0005, … (999 in all)") in rows
    assert ("hostname", "992 more values", "992 hosts") in rows
    assert len(rows) == 1 + 2 + 1 + 9


def test_in_short_there_are_no_mitigations_but_what_tells_cards_apart() -> None:
    machines = _machines({"gw1": _facts(), "hh1": _facts(kernel="6.1")})
    assert in_short(machines, 60) == (
        ("cpu", "EPYC"),
        ("kernel", "6.18 (gw1); 6.1 (hh1)"),
        ("numa_nodes", "2"),
        ("nic.eth0.driver", "x"),
        ("nic.eth0.mtu", "x"),
    )
    assert len(in_short(machines, 2)) == 2


def test_in_short_a_long_value_ends_with_an_ellipsis() -> None:
    ((_, text),) = in_short(_machines({"a": {"kernel_command_line": "quiet " * 100}}), 60)
    assert len(text) == 240
    assert text.endswith("…")


def test_theoretical_peaks_stand_first_with_their_sources() -> None:
    sheet = "declared: data sheet"
    peaks = [
        Peak("gw1", "memory", 68.256e9, "B/s", sheet),
        Peak("gw1", "memory_latency", 14e-9, "s", sheet),
        Peak("hh1", "memory", 68.256e9, "B/s", sheet),
    ]
    machines = _machines({"gw1": _facts(memory="1 kB"), "hh1": _facts(memory="1 kB")}, *peaks)
    first = machines.groups[0]
    assert (first.title, first.open) == ("Theoretical peaks", True)
    assert [(row.name, [cell.text for cell in row.cells]) for row in first.rows] == [
        ("peak memory", [f"68.26 GB/s ({sheet})"]),
        ("peak memory_latency", [f"14.00 ns ({sheet})", "–"]),
    ]
    # A fact of that name is another thing.
    summary = dict(in_short(machines, 60))
    assert (summary["memory"], summary["peak memory"]) == ("1 kB", f"68.26 GB/s ({sheet})")
    assert machines.note == "11 facts of 2 hosts, all of them alike."
