"""Runs are called by what they differ in, and no two alike."""

from __future__ import annotations

from railgauge.report.paper.run_names import NamedRun, run_names

DAY, NEXT = "2026-01-02T03:04:05.000000Z", "2026-01-03T03:04:05.000000Z"


def facts(**of_host: str) -> dict[str, dict[str, str]]:
    return {"n1": {name.replace("__", "."): text for name, text in of_host.items()}}


def test_a_run_alone_is_called_measured() -> None:
    assert run_names([NamedRun(7, started_at=DAY)]) == {7: "measured"}


def test_labels_go_first_and_are_enough() -> None:
    runs = [
        NamedRun(1, commit="a" * 40, labels={"nic": "old"}),
        NamedRun(2, commit="b" * 40, labels={"nic": "new"}),
    ]
    assert run_names(runs) == {1: "nic old", 2: "nic new"}


def test_a_label_that_one_run_lacks_names_none() -> None:
    runs = [
        NamedRun(1, started_at=DAY, labels={"nic": "old"}),
        NamedRun(2, started_at=NEXT),
    ]
    assert run_names(runs) == {1: "2026-01-02", 2: "2026-01-03"}


def test_facts_name_what_they_tell_apart() -> None:
    runs = [
        NamedRun(1, facts=facts(kernel="Linux version 6.1.0 (x)", nic__eth0__mtu="1500")),
        NamedRun(2, facts=facts(kernel="Linux version 6.1.0 (x)", nic__eth0__mtu="9000")),
    ]
    assert run_names(runs) == {1: "MTU 1500", 2: "MTU 9000"}


def test_it_takes_as_many_words_as_tell_all_apart() -> None:
    runs = [
        NamedRun(1, commit="a" * 40, facts=facts(kernel="Linux 5.4")),
        NamedRun(2, commit="b" * 40, facts=facts(kernel="Linux 5.4")),
        NamedRun(3, commit="a" * 40, facts=facts(kernel="Linux 6.1")),
    ]
    assert run_names(runs) == {
        1: "kernel 5.4, commit aaaaaaaaaa",
        2: "kernel 5.4, commit bbbbbbbbbb",
        3: "kernel 6.1, commit aaaaaaaaaa",
    }


def test_runs_that_differ_in_nothing_have_their_numbers() -> None:
    assert run_names([NamedRun(1), NamedRun(2)]) == {1: "run 1", 2: "run 2"}
    runs = [NamedRun(number, started_at=DAY) for number in (3, 4)]
    assert run_names(runs) == {3: "run 3", 4: "run 4"}
