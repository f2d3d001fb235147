"""Truths about disk: the bytes that the kernel charged to the engine's processes (getrusage(2))."""

from __future__ import annotations

import math
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from railgauge.base.certificate import CertificateCheck
from railgauge.base.errors import EnvironmentFailedError
from railgauge.calibrate.machine import WIRING
from railgauge.calibrate.rig import SENDER, Rig, RigResult
from railgauge.calibrate.truth import Truth
from railgauge.calibrate.uncertainty import counted, without_value
from railgauge.engine.deploy import bundle, deploy

REPLICATIONS = 4
# Where the hierarchy's standard (FHS) has files that outlive a boot: more often a disk than /tmp.
_FOLDER = "/var/tmp"  # noqa: S108
BLOCK = 1 << 20
_SIZE = 32 * BLOCK
_SECTOR = 512  # of ru_inblock and ru_oublock
_WRITTEN_LIMIT = 0.005
# Bytes that the other programs of a run may write.
_STRAY_BYTES = 65_536
# To find a time when no program has to be read from the disk.
_ATTEMPTS = 3


def transfer_truths() -> Iterator[Truth]:
    """Yield the truths about the engine disk."""
    written = CertificateCheck("disk bytes written", "disk", "B", _WRITTEN_LIMIT, relative=True)
    yield Truth(written, WIRING, partial(_transferred, mode="write"))
    read = CertificateCheck("disk bytes read", "disk", "B", 0.0, relative=False)
    yield Truth(read, WIRING, partial(_transferred, mode="read"))


@dataclass(frozen=True, slots=True)
class Charged:
    """Bytes that children had devices read and write, and their faults that had to wait for one."""

    read: int
    written: int
    faults: int

    @classmethod
    def so_far(cls) -> Charged:
        """Return what the kernel charged to all children that ended, and theirs."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(usage.ru_inblock * _SECTOR, usage.ru_oublock * _SECTOR, usage.ru_majflt)

    def __sub__(self, before: Charged) -> Charged:
        return Charged(
            self.read - before.read, self.written - before.written, self.faults - before.faults
        )


def _transferred(pair: Rig, check: CertificateCheck, *, mode: str) -> CertificateCheck:
    """Compare with what the kernel charged to the programs that a run starts.

    A run of one replication comes before: it has the programs themselves read from the disk, and
    lays out a file as the other does.
    """
    try:
        scratch = tempfile.TemporaryDirectory(prefix="railgauge-calibrate-", dir=_FOLDER)
    except OSError as error:
        raise EnvironmentFailedError(f"can't make a file to measure with: {error}") from error
    with scratch as folder:
        # To build them writes files, too.
        deploy(pair.transport(SENDER), bundle())
        begin = Charged.so_far()
        single = pair.measure(_test(mode, folder, 1))
        single_charge = Charged.so_far() - begin
        for _ in range(_ATTEMPTS):
            begin = Charged.so_far()
            measured = pair.measure(_test(mode, folder, 1 + REPLICATIONS))
            charged = Charged.so_far() - begin
            if mode == "write" or not charged.faults:
                break
    values = measured.values("bytes")
    if len(single.values("bytes")) != 1 or len(values) != 1 + REPLICATIONS:
        return without_value(check, measured.reason or single.reason or "replications are missing")
    if mode == "read":
        return _read(check, measured, charged)
    value = sum(values) - sum(single.values("bytes"))
    return _written(check, value, charged.written - single_charge.written)


def _read(check: CertificateCheck, measured: RigResult, charged: Charged) -> CertificateCheck:
    """Compare to the byte, in whole blocks: less than one may be of programs' own files."""
    if max(measured.values("cached_share"), default=0.0) > 0:
        return without_value(check, f"the file system of {_FOLDER} reads from a cache")
    if charged.faults > 0:
        return without_value(check, "programs themselves were read from the disk meanwhile")
    return counted(check, measured.values("bytes"), charged.read // BLOCK * BLOCK, measured.reason)


def _written(check: CertificateCheck, value: float, truth: int) -> CertificateCheck:
    """Compare; nothing that another program does can make these bytes fewer or more."""
    if truth <= 0:
        return without_value(check, f"the kernel counts no bytes written in {_FOLDER}")
    return replace(
        check,
        value=value,
        truth=float(truth),
        error=(value - truth) / truth,
        uncertainty=2 * _STRAY_BYTES / math.sqrt(3) / truth,
    )


def _test(mode: str, folder: str, replications: int) -> str:
    settings = f"mode: {mode}, folder: {folder}, size: {_SIZE}, block: {BLOCK}, duration: 0s"
    return (
        f"  - {{name: disk, engine: disk, hosts: [{SENDER}], order: sequential, "
        f"replications: {replications}, set: {{{settings}}}}}\n"
    )
