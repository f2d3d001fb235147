"""What a hosts file says its hosts could do at most, and which such values there are."""

from __future__ import annotations

from typing import Any, ClassVar, get_args

from pydantic import ConfigDict, model_validator
from pydantic.config import JsonDict

from railgauge.base import units
from railgauge.plan.fields import Label
from railgauge.plan.validation import StrictModel, describe


def _text_or_mapping(schema: JsonDict) -> None:
    text: JsonDict = {"type": "string"}
    mapping: JsonDict = {
        "type": "object",
        "properties": {"value": text, "source": text},
        "required": ["value"],
        "additionalProperties": False,
    }
    schema.clear()
    schema["anyOf"] = [text, mapping]


class DeclaredPeak(StrictModel):
    """A value with its unit, as `68.3GB/s` or `{value: 68.3GB/s, source: the data sheet}`."""

    model_config = ConfigDict(json_schema_extra=_text_or_mapping)
    unit: ClassVar[str]
    example: ClassVar[str]

    value: float
    source: Label | None = None

    @model_validator(mode="before")
    @classmethod
    def _written(cls, written: Any) -> Any:
        """Read the value, in base units, wherever it stands."""
        if not isinstance(written, dict):
            return {"value": cls._quantity(written)}
        if "value" not in written:
            return written
        return {**written, "value": cls._quantity(written["value"])}

    @classmethod
    def _quantity(cls, written: Any) -> float:
        try:
            value, unit = units.parse_quantity(written)
        except ValueError as error:
            raise ValueError(
                f"{describe(written)} is no quantity in {cls.unit}: write for example {cls.example}"
            ) from error
        if unit != cls.unit:
            raise ValueError(
                f"{written!r} is in {unit}, but this is in {cls.unit}: write for example "
                f"{cls.example}"
            )
        if value <= 0:
            raise ValueError(
                f"{written!r} is nothing to be reached: write for example {cls.example}"
            )
        return value


class OperationRate(DeclaredPeak):
    """A peak in operations per second."""

    unit, example = "op/s", "147.2GFLOP/s or 90kop/s"


class ByteRate(DeclaredPeak):
    """A peak in bytes per second."""

    unit, example = "B/s", "68.256GB/s or 372MB/s"


class BitRate(DeclaredPeak):
    """A peak in bits per second."""

    unit, example = "bit/s", "10Gbit/s"


class Time(DeclaredPeak):
    """A peak that is the shortest time."""

    unit, example = "s", "14ns or 0.5ms"


_FORMER = {"cpu_quarter": "cpu_int8", "cpu_half": "cpu_int16"}


class Peaks(StrictModel):
    """What a host could do at most, each of the whole host; None where nobody said.

    Operations per second of all its cores together by precision, memory, the disk that tests use,
    and the network towards the other hosts. The time of a small message is one thing one way, and
    another one there and back.
    """

    cpu_int8: OperationRate | None = None
    cpu_int16: OperationRate | None = None
    cpu_fp16: OperationRate | None = None
    cpu_bf16: OperationRate | None = None
    cpu_single: OperationRate | None = None
    cpu_double: OperationRate | None = None
    cpu_integer: OperationRate | None = None
    memory: ByteRate | None = None
    memory_latency: Time | None = None
    disk_read: ByteRate | None = None
    disk_write: ByteRate | None = None
    disk_random_read: ByteRate | None = None
    disk_random_write: ByteRate | None = None
    disk_iops: OperationRate | None = None
    disk_latency: Time | None = None
    network: BitRate | None = None
    network_latency: Time | None = None
    network_round_trip: Time | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_former(cls, written: Any) -> Any:
        for before, now in _FORMER.items():
            if isinstance(written, dict) and before in written:
                raise ValueError(f"{before!r} has another name: write {now!r}")
        return written

    def declared(self) -> dict[str, DeclaredPeak]:
        """Return those that are said, by the resource's name."""
        peaks = {name: getattr(self, name) for name in RESOURCES}
        return {name: peak for name, peak in peaks.items() if peak is not None}


RESOURCES: dict[str, str] = {
    name: get_args(field.annotation)[0].unit for name, field in Peaks.model_fields.items()
}
"""Every resource that has a peak, and its base unit."""
