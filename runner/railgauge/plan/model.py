"""What a plan and a hosts file may say. What needs the engines' descriptions is checked later."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.config import JsonDict

from railgauge import units
from railgauge.validation import Scalar, StrictModel, Version, describe

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HOST_NAME = re.compile(r"(?!.*\.[0-9]+\.?$)[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})")
_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_DESTINATION = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?"
    r"(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


def _slug(text: str) -> str:
    if not _SLUG.fullmatch(text):
        raise ValueError(f"{text!r} is no plan's name: write letters, digits, '.', '_' and '-'")
    return text


def _label(text: str) -> str:
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > 100:
        raise ValueError(
            f"{text[:40]!r} can't be a name: write 1 to 100 visible characters, "
            "without spaces around them"
        )
    return text


def _address(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if not _HOST_NAME.fullmatch(text):
            raise ValueError(
                f"{text[:80]!r} is neither an IP address nor a host's name: "
                "write for example 10.1.0.1, fd00::1 or node7.example.org"
            ) from None
    return text


def _destination(text: str) -> str:
    match = _DESTINATION.fullmatch(text)
    if match is None or not 1 <= int(match["port"] or 22) <= 65535:
        raise ValueError(
            f"{text[:80]!r} is no destination for ssh: write [user@]host[:port], "
            "as in gw1.example.org or me@[fd00::1]:2222"
        )
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/") or not text.isprintable():
        raise ValueError(f"{text[:80]!r} is no absolute folder: write for example /opt/openmpi")
    return text


def _namespace(text: str) -> str:
    if not _NAMESPACE.fullmatch(text):
        raise ValueError(
            f"{text[:80]!r} is no network namespace's name: write it as `ip netns list` shows it"
        )
    return text


def _rate(value: Any) -> float:
    rate = units.parse_rate(value)
    if not rate:
        raise ValueError(f"{value!r} is no link's rate: write more than 0, or leave it out")
    return rate


def _time(value: Any) -> float:
    return units.parse_time(value)


def _one_or_more(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError("the list is empty: name a value, or leave the key out")
    for each in values:
        if each is None or isinstance(each, dict | list):
            raise ValueError(f"{describe(each)} stands where a value or a list of them is wanted")
    return values


def _some(values: list[Any]) -> list[Any]:
    if not values:
        raise ValueError("the list is empty: give it a value, or leave the key out")
    return values


def _list_or_range(value: Any, to_list: ValidatorFunctionWrapHandler) -> Any:
    """Leave a range alone: only its parameter knows what the values in it may be."""
    return value if isinstance(value, dict) else to_list(value)


Label = Annotated[str, AfterValidator(_label)]
Labels = Annotated[list[Label], AfterValidator(_some)]
_SCALAR: JsonDict = {"type": ["string", "number", "boolean"]}
_NUMBER: JsonDict = {"type": ["string", "number"]}
# A list of values or, as a dict, a range (plan/ranges.py).
Axis = Annotated[
    list[Scalar],
    AfterValidator(_some),
    WrapValidator(_list_or_range),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": _SCALAR, "minItems": 1},
                {
                    "type": "object",
                    "properties": {
                        "from": {"description": "the first value", **_NUMBER},
                        "to": {"description": "the last value", **_NUMBER},
                        "step": {"description": "what is added each time", **_NUMBER},
                        "factor": {
                            "description": "what is multiplied by each time",
                            "type": "integer",
                            "minimum": 2,
                        },
                    },
                    "required": ["from", "to"],
                    "oneOf": [{"required": ["step"]}, {"required": ["factor"]}],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
OneOrMore = Annotated[
    Any,
    AfterValidator(_one_or_more),
    WithJsonSchema({"type": ["string", "number", "boolean", "array"]}),
]
_Quantity = WithJsonSchema({"type": "string"})
Address = Annotated[str, AfterValidator(_address)]


class Host(StrictModel):
    """A machine: the addresses that test traffic goes to, and the way to start programs there.

    `networks` are addresses beside the plain one, by the network's name. `netns` is a network
    namespace on this machine, `holder` the process whose user namespace it is in, if not ours;
    `node` is Slurm's name of the host where that is not its address.
    """

    address: Address
    networks: dict[Label, Address] = Field(default={})
    ssh: Annotated[str, AfterValidator(_destination)] | None = None
    netns: Annotated[str, AfterValidator(_namespace)] | None = None
    holder: Annotated[int, Field(ge=1)] | None = None
    transport: Literal["local", "slurm"] | None = None
    node: Annotated[str, AfterValidator(_address)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Host:
        if [self.ssh, self.netns, self.transport].count(None) != 2:
            raise ValueError(
                "say one of 'ssh: [user@]host[:port]', 'netns: NAME' (a network namespace on this "
                "machine), 'transport: slurm' (in an allocation) and 'transport: local' (this "
                "machine)"
            )
        if self.holder is not None and self.netns is None:
            raise ValueError("'holder' belongs to 'netns': leave it out, or name the namespace")
        if self.node is not None and self.transport != "slurm":
            raise ValueError("'node' belongs to 'transport: slurm': leave it out, or say that")
        return self

    @property
    def machine(self) -> str:
        """What is the same for two hosts on one machine: `local`, or ssh's host and port …"""
        if self.ssh is not None:
            return self.ssh.rpartition("@")[2].lower()
        if self.netns is not None:
            return f"netns {self.netns}"
        return f"slurm {self.node or self.address}" if self.transport == "slurm" else "local"

    def address_on(self, network: str | None) -> str:
        """Return its address for test traffic on `network`, or the plain one; KeyError."""
        return self.address if network is None else self.networks[network]


class Link(StrictModel):
    """An ordered pair of hosts; `rate` in bit/s and `rtt` in seconds, where they are known.

    On a `network`, both hosts' addresses there are used.
    """

    client: Label = Field(alias="from")
    server: Label = Field(alias="to")
    rate: Annotated[float | None, BeforeValidator(_rate), _Quantity] = None
    rtt: Annotated[float | None, BeforeValidator(_time), _Quantity] = None
    network: Label | None = None


class Mpi(StrictModel):
    """How MPI jobs are started on the hosts.

    `prefix` is the folder of the bin/mpirun and bin/mpicc to use (else those in PATH), `agent` the
    command that mpirun reaches other hosts with in place of ssh. The launcher is srun where Slurm
    holds the hosts, else mpirun.
    """

    launcher: Literal["mpirun", "srun"] | None = None
    prefix: Annotated[str, AfterValidator(_absolute)] | None = None
    agent: str | None = None


class HostsFile(StrictModel):
    """Hosts and links kept apart from the plans that use them."""

    hosts: dict[Label, Host] = Field(min_length=1)
    links: dict[Label, Link] = Field(default={})
    groups: dict[Label, Labels] = Field(default={})
    mpi: Mpi = Field(default=Mpi())


class Test(StrictModel):
    """One engine on some links, hosts or groups, with the parameters that stay and that vary."""

    __test__ = False  # Not one of pytest's.

    name: Label
    engine: str
    links: Labels | None = None
    hosts: Labels | None = None
    groups: Labels | None = None
    set: dict[str, Scalar] = Field(default={})
    grid: dict[str, Axis] = Field(default={})
    zip: list[dict[str, Axis]] = Field(default=[])
    exclude: list[dict[str, OneOrMore]] = Field(default=[])
    replications: int = Field(default=10, ge=1, le=1_000_000)
    order: Literal["sequential", "interleaved", "random"] = "interleaved"


class Plan(StrictModel):
    """What to measure. `hosts` and `links` are complete once a hosts file is read in.

    `concurrency` bounds how many replications run at the same time on disjoint hosts. It is 1
    unless the plan says otherwise, as links without a common host may share a switch.
    """

    railgauge: Version
    name: Annotated[str, AfterValidator(_slug)]
    description: str = ""
    hosts: dict[Label, Host] = Field(default={})
    hosts_file: str | None = None
    links: dict[Label, Link] = Field(default={})
    groups: dict[Label, Labels] = Field(default={})
    mpi: Mpi | None = None
    engines: list[str] = Field(default=[])
    tests: list[Test] = Field(min_length=1)
    concurrency: int = Field(default=1, ge=1, le=1_000_000)
    seed: int | None = Field(default=None, ge=0, le=2**63 - 1)
    control_port: int = Field(default=0, ge=0, le=65535)
