"""`railgauge calibrate`: the instrument compared with truths, and the certificate of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.base.errors import InputError
from railgauge.calibrate.broken_instruments import (
    BROKEN_INSTRUMENTS,
    BROKEN_PAIR_INSTRUMENTS,
    BrokenInstrument,
    broken_check,
    broken_pair_check,
)
from railgauge.calibrate.calibration import (
    build_engines,
    calibrate_pair,
    chosen_truths,
    with_words,
)
from railgauge.calibrate.calibration import calibrate as calibrate_against
from railgauge.calibrate.host_pair import ChosenLink, choose_link, host_pair
from railgauge.calibrate.pair_truths import PairMeasurement, pair_truths
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database, refuse_given
from railgauge.engine.build_all import BuildObserver
from railgauge.run.progress import observer_for
from railgauge.store import Store

_ROW = "{:<30} {:>12} {:>12} {:>9} {:>9} {:>8}  {}"
_HEADER = _ROW.format("check", "value", "truth", "error", "U (95%)", "limit", "conclusion")


@click.command()
@click.argument("hosts", metavar="[HOSTS]", required=False, type=click.Path(path_type=Path))
@click.option("--link", metavar="NAME", help="With HOSTS: the link, not the first one there.")
@click.option("--only", multiple=True, metavar="WORD", help="Only checks with WORD in their name.")
@click.option("--self-test", is_flag=True, help="Break the instrument: each fault has to show.")
@database
@as_json
def calibrate(
    hosts: Path | None,
    link: str | None,
    only: tuple[str, ...],
    self_test: bool,
    where: str,
    as_json: bool,
) -> int:
    """Check the engines against known truths on this machine, and store the certificate.

    With HOSTS, a hosts file, they are checked against the counters of the interfaces at both ends
    of a link in it.

    Exit status: 0 all is certified, 1 something is wrong or can't be certified here.
    """
    if link is not None and hosts is None:
        raise InputError("--link names a link of a hosts file: name that, too")
    chosen = None if hosts is None else choose_link(hosts, link)
    observer = observer_for()
    if self_test:
        refuse_given("as_json", reason="is for a certificate: --self-test prints as it goes")
        if chosen is None:
            return _self_test(only, observer)
        return _pair_self_test(chosen, only, observer)
    truths = chosen_truths(only) if chosen is None else []
    with contextlib.ExitStack() as cleanup:
        # Where it can't be stored nothing is measured.
        store = cleanup.enter_context(Store.open(where, say=observer.say))
        on_check = _silent if as_json else _print
        build_engines(truths, observer)
        if not as_json:
            click.echo(_HEADER)
        if chosen is None:
            certificate = calibrate_against(truths, on_check)
        else:
            certificate = calibrate_pair(chosen, only, on_check, observer)
        store.add_certificate(certificate)
    if as_json:
        click.echo(json_text(_as_json(certificate)))
    else:
        click.echo(_summary(certificate, store.name))
    return int(any(check.conclusion != "certified" for check in certificate.results))


def _self_test(only: Sequence[str], observer: BuildObserver) -> int:
    truths = chosen_truths(only)
    names = {truth.check.name for truth in truths}
    instruments = [b for b in BROKEN_INSTRUMENTS if b.check in names]
    if not instruments:
        checks = ", ".join(dict.fromkeys(broken.check for broken in BROKEN_INSTRUMENTS))
        raise InputError(
            f"no instrument is broken for {', '.join(sorted(names))}: choose among {checks}"
        )
    build_engines(truths, observer)
    return _judge_broken(instruments, broken_check)


def _pair_self_test(chosen: ChosenLink, only: Sequence[str], observer: BuildObserver) -> int:
    """Break the instrument in each of the ways that the counters of a pair of hosts can show."""
    names = {truth.check.name for truth in with_words(list(pair_truths()), only)}
    instruments = [b for b in BROKEN_PAIR_INSTRUMENTS if b.check in names]
    with host_pair(chosen, observer) as pair:
        measure = partial(broken_pair_check, measurement=PairMeasurement(pair))
        return _judge_broken(instruments, measure)


def _silent(check: CertificateCheck) -> None:
    """Print nothing."""


def _judge_broken(
    instruments: Sequence[BrokenInstrument],
    measure: Callable[[BrokenInstrument], CertificateCheck],
) -> int:
    click.echo(_HEADER)
    missed, untested = [], []
    for broken in instruments:
        click.echo(f"{broken.name}:")
        check = measure(broken)
        _print(check)
        if check.conclusion == "certified":
            missed.append(broken.name)
        elif check.conclusion != "wrong":
            untested.append(broken.name)
    wrong = len(instruments) - len(missed) - len(untested)
    click.echo(f"{wrong} of {len(instruments)} broken instruments are shown to be wrong")
    if missed:
        click.echo(f"certified in spite of the fault: {', '.join(missed)}")
    if untested:
        click.echo(f"not certifiable here, with the fault or without: {', '.join(untested)}")
    return int(wrong < len(instruments))


def _print(check: CertificateCheck) -> None:
    """Print a check as a line, and why it isn't certified on another."""
    if check.error is None or check.uncertainty is None:
        words = [check.name, "", "", "", "", _share(check, check.limit), check.conclusion]
    else:
        quantities = (_quantity(check, number) for number in (check.value, check.truth))
        shares = (_share(check, n) for n in (check.error, check.uncertainty, check.limit))
        words = [check.name, *quantities, *shares, check.conclusion]
    click.echo(_ROW.format(*words))
    if check.explanation:
        click.echo(f"    {check.explanation}")


def _quantity(check: CertificateCheck, number: float | None) -> str:
    match check.unit:
        case "bit/s":
            return f"{(number or 0) / 1e6:.3f} M"
        case "op/s" | "B/s":
            return f"{(number or 0) / 1e9:.4f} G"
        case "B":
            return f"{number or 0:.0f}"
        case "s":
            return f"{(number or 0) * 1e3:.4f} ms"
        case _:
            return f"{number:g}"


def _share(check: CertificateCheck, number: float) -> str:
    if check.relative:
        return f"{100 * number:.3f} %"
    return f"{number * 1e6:.3f} us" if check.unit == "s" else f"{number:.3g}"


def _summary(certificate: Certificate, name: str) -> str:
    engines = ", ".join(certificate.certified()) or "no engine"
    in_part = [
        f"{engine} ({sum(c.conclusion == 'certified' for c in checks)} of {len(checks)} checks)"
        for engine in dict.fromkeys(check.engine for check in certificate.checks)
        if engine not in certificate.certified()
        and (checks := [check for check in certificate.checks if check.engine == engine])
    ]
    if certificate.peer:
        return _pair_summary(certificate, name)
    return (
        f"certified: {engines}{'; in part: ' if in_part else ''}{', '.join(in_part)}; on "
        f"{certificate.host}, kernel {certificate.kernel}, "
        f"clock {certificate.clock_source or 'unknown'}, load {certificate.load:.2f}, "
        f"engines {certificate.engines_hash[:12]}; in {name}"
    )


def _pair_summary(certificate: Certificate, name: str) -> str:
    certified = [check.name for check in certificate.checks if check.conclusion == "certified"]
    ends = "; ".join(
        f"{host}: kernel {kernel}, clock {clock or 'unknown'}, load {load:.2f}"
        for host, kernel, clock, load in (
            (
                certificate.host,
                certificate.kernel,
                certificate.clock_source,
                certificate.load,
            ),
            (
                certificate.peer,
                certificate.peer_kernel,
                certificate.peer_clock_source,
                certificate.peer_load,
            ),
        )
    )
    return (
        f"certified from {certificate.host} to {certificate.peer}: "
        f"{', '.join(certified) or 'nothing'}; {ends}; engines {certificate.engines_hash[:12]}; "
        f"in {name}"
    )


def _as_json(certificate: Certificate) -> dict[str, Any]:
    return {
        **asdict(certificate),
        "certified": certificate.certified(),
        "checks": [
            {**asdict(check), "conclusion": check.conclusion, "explanation": check.explanation}
            for check in certificate.results
        ],
        "left_out": [check.name for check in certificate.checks if check.conclusion == "left out"],
    }
