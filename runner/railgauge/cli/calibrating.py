"""`railgauge calibrate`: the instrument held against truths, and the certificate of it."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from typing import Any

import click

from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.calibrate.broken_instruments import BROKEN_INSTRUMENTS, broken_check
from railgauge.calibrate.calibration import calibrate as calibrate_against
from railgauge.calibrate.calibration import chosen_truths
from railgauge.cli.jsontext import json_text
from railgauge.cli.options import as_json, database
from railgauge.store import Store

_ROW = "{:<30} {:>12} {:>12} {:>9} {:>9} {:>8}  {}"
_HEADER = _ROW.format("check", "value", "truth", "error", "U (k=2)", "limit", "conclusion")


@click.command()
@click.option("--only", multiple=True, metavar="WORD", help="Only checks with WORD in their name.")
@click.option("--self-test", is_flag=True, help="Break the instrument: each fault has to show.")
@database
@as_json
def calibrate(only: tuple[str, ...], self_test: bool, where: str, as_json: bool) -> int:
    """Hold the engines against known truths on this machine, and store the certificate.

    Exit status: 0 all is certified, 1 something is wrong or can't be certified here.
    """
    if self_test:
        return _self_test()
    truths = chosen_truths(only)
    with contextlib.ExitStack() as cleanup:
        # Where it can't be stored nothing is measured.
        store = cleanup.enter_context(Store.open(where))
        if not as_json:
            click.echo(_HEADER)
        certificate = calibrate_against(truths, lambda check: None if as_json else _print(check))
        store.add_certificate(certificate)
    if as_json:
        click.echo(json_text(_as_json(certificate)))
    else:
        click.echo(_summary(certificate, store.name))
    return int(any(check.conclusion != "certified" for check in certificate.results))


def _self_test() -> int:
    click.echo(_HEADER)
    missed, untested = [], []
    for broken in BROKEN_INSTRUMENTS:
        click.echo(f"{broken.name}:")
        check = broken_check(broken)
        _print(check)
        if check.conclusion == "certified":
            missed.append(broken.name)
        elif check.conclusion != "wrong":
            untested.append(broken.name)
    wrong = len(BROKEN_INSTRUMENTS) - len(missed) - len(untested)
    click.echo(f"{wrong} of {len(BROKEN_INSTRUMENTS)} broken instruments are shown to be wrong")
    if missed:
        click.echo(f"certified in spite of the fault: {', '.join(missed)}")
    if untested:
        click.echo(f"not certifiable here, with the fault or without: {', '.join(untested)}")
    return int(wrong < len(BROKEN_INSTRUMENTS))


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
    return (
        f"certified: {engines}{'; in part: ' if in_part else ''}{', '.join(in_part)}; on "
        f"{certificate.host}, kernel {certificate.kernel}, "
        f"clock {certificate.clock_source or 'unknown'}, load {certificate.load:.2f}, "
        f"engines {certificate.engines_hash[:12]}; in {name}"
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
