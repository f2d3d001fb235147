"""A calibration: truth by truth, and the certificate of what came out."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from railgauge import __version__
from railgauge.base.certificate import LEFT_OUT, Certificate, CertificateCheck
from railgauge.base.errors import EnvironmentFailedError, InputError
from railgauge.base.own_source import source_hash
from railgauge.calibrate.alarms import alarm_truths
from railgauge.calibrate.analysis import analysis_truths
from railgauge.calibrate.host_pair import ChosenLink, host_pair
from railgauge.calibrate.idle_states import text_of
from railgauge.calibrate.machine import machine_truths
from railgauge.calibrate.message_passing import mpi_truths
from railgauge.calibrate.network import network_truths
from railgauge.calibrate.pair_truths import PairMeasurement, PairTruth, pair_truths
from railgauge.calibrate.stamps import stamp_truths
from railgauge.calibrate.transfers import transfer_truths
from railgauge.calibrate.truth import LocalTruth, Truth
from railgauge.calibrate.uncertainty import without_value
from railgauge.engine.build_all import BuildObserver
from railgauge.engine.deploy import bundle
from railgauge.engine.deploy_all import deploy_local

AnyTruth = TypeVar("AnyTruth", Truth | LocalTruth, PairTruth)
_KERNEL = Path("/proc/sys/kernel")
_CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


# What yields truths.
_TRUTHS: tuple[Callable[[], Iterator[Truth | LocalTruth]], ...] = (
    network_truths,
    stamp_truths,
    mpi_truths,
    machine_truths,
    transfer_truths,
    analysis_truths,
    alarm_truths,
)


def all_truths() -> list[Truth | LocalTruth]:
    """Return all truths, in the order of the certificate."""
    return [truth for truths in _TRUTHS for truth in truths()]


def chosen_truths(names: Iterable[str] = ()) -> list[Truth | LocalTruth]:
    """Return the truths whose checks have one of these words in their names; all without any.

    InputError for a word that none has.
    """
    return with_words(all_truths(), names)


def with_words(truths: Sequence[AnyTruth], names: Iterable[str]) -> list[AnyTruth]:
    """Return those of the truths whose checks have one of these words in their names.

    All without any word; InputError for a word that none has.
    """
    words = list(names)
    for word in words:
        if not any(word in truth.check.name for truth in truths):
            checks = ", ".join(truth.check.name for truth in truths)
            raise InputError(f"no check has {word!r} in its name; there are: {checks}")
    return [t for t in truths if not words or any(word in t.check.name for word in words)]


def build_engines(truths: Iterable[Truth | LocalTruth], observer: BuildObserver) -> None:
    """Build what the truths measure with, which the `observer` follows: no rig shows its builds.

    Where that fails each truth says so itself.
    """
    engines = {truth.check.engine for truth in truths if isinstance(truth, Truth)}
    if engines:
        with contextlib.suppress(EnvironmentFailedError):
            deploy_local(observer, mpi="mpi" in engines)


def calibrate(
    truths: Iterable[Truth | LocalTruth], on_check: Callable[[CertificateCheck], None]
) -> Certificate:
    """Compare the instrument with each of the truths, and give each to `on_check` as it comes.

    The other checks of their engines are in the certificate, too, as left out.
    """
    results = {}
    for truth in truths:
        results[truth.check.name] = truth.hold()
        on_check(results[truth.check.name])
    engines = {check.engine for check in results.values()}
    checks = [
        results.get(truth.check.name, without_value(truth.check, LEFT_OUT))
        for truth in all_truths()
        if truth.check.engine in engines
    ]
    return Certificate(
        uid=secrets.token_hex(16),
        made_at=_now(),
        version=__version__,
        engines_hash=bundle().digest,
        host=os.uname().nodename,
        kernel=os.uname().release,
        boot_id=text_of(_KERNEL / "random/boot_id"),
        clock_source=text_of(_CLOCK_SOURCE),
        load=os.getloadavg()[0],
        checks=tuple(checks),
        source_hash=source_hash(),
    )


def calibrate_pair(
    chosen: ChosenLink,
    words: Iterable[str],
    on_check: Callable[[CertificateCheck], None],
    observer: BuildObserver,
) -> Certificate:
    """Compare the instrument with the counters of a link's two hosts, as `calibrate` does.

    InputError for a word that no check's name has; EnvironmentFailedError where a host isn't ready.
    """
    truths = list(pair_truths())
    names = {truth.check.name for truth in with_words(truths, words)}
    checks = []
    with host_pair(chosen, observer) as pair:
        measurement = PairMeasurement(pair)
        for truth in truths:
            if truth.check.name in names:
                checks.append(truth.hold(measurement))
                on_check(checks[-1])
            else:
                checks.append(without_value(truth.check, LEFT_OUT))
    client, server = pair.client, pair.server
    return Certificate(
        uid=secrets.token_hex(16),
        made_at=_now(),
        version=__version__,
        engines_hash=bundle().digest,
        host=client.name,
        kernel=client.release,
        boot_id=client.facts.get("boot_id", ""),
        clock_source=client.facts.get("clocksource", ""),
        load=client.load,
        checks=tuple(checks),
        source_hash=source_hash(),
        peer=server.name,
        peer_kernel=server.release,
        peer_boot_id=server.facts.get("boot_id", ""),
        peer_clock_source=server.facts.get("clocksource", ""),
        peer_load=server.load,
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
