"""A truth: what is compared with it, and how both are measured on a rig."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EngineError, EnvironmentFailedError
from railgauge.calibrate.rig import Fault, Rig, rig
from railgauge.calibrate.uncertainty import without_value


@dataclass(frozen=True, slots=True)
class Truth:
    """A check without a value yet, the `wiring` of the rig that it takes, and how it is measured.

    With a `fault` the instrument is broken on purpose, which the check has to show.
    """

    check: CertificateCheck
    wiring: str
    measure: Callable[[Rig, CertificateCheck], CertificateCheck]
    fault: Fault | None = None

    def hold(self) -> CertificateCheck:
        """Measure; what this machine refuses is the reason why nothing is certified."""
        try:
            with rig(self.wiring, self.fault) as pair:
                return self.measure(pair, self.check)
        except (EnvironmentFailedError, EngineError) as error:
            return without_value(self.check, str(error))


@dataclass(frozen=True, slots=True)
class LocalTruth:
    """A truth that takes no rig: `measure` gets the check and the fault of a broken instrument."""

    check: CertificateCheck
    measure: Callable[[CertificateCheck, Fault | None], CertificateCheck]
    fault: Fault | None = None

    def hold(self) -> CertificateCheck:
        """Measure, as `Truth.hold` does."""
        try:
            return self.measure(self.check, self.fault)
        except (EnvironmentFailedError, EngineError) as error:
            return without_value(self.check, str(error))
