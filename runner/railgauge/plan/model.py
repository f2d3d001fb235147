"""What a plan and a hosts file may say. What needs the engines' descriptions is checked later."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from railgauge.plan.allocated import OrAllocation
from railgauge.plan.declared_peaks import Peaks
from railgauge.plan.equipment import Device, Equipment
from railgauge.plan.fields import (
    Address,
    Axis,
    Destination,
    Folder,
    Label,
    Labels,
    Members,
    Namespace,
    OneOrMore,
    Slug,
)
from railgauge.plan.links import LinkEntry
from railgauge.plan.replication_rule import OrNumber, Replications, Shares, Time
from railgauge.plan.system_log import OrOff, SystemLogging
from railgauge.plan.validation import Scalar, StrictModel, Version
from railgauge.schedulers import SCHEDULERS
from railgauge.schedulers.scheduler import Scheduler

if TYPE_CHECKING:
    TransportName = str
    LauncherName = str
else:
    _LAUNCHERS = [scheduler.launcher for scheduler in SCHEDULERS.values() if scheduler.launcher]
    TransportName = Literal[("local", *SCHEDULERS)]
    LauncherName = Literal[("mpirun", *_LAUNCHERS)]

_IN_ALLOCATION = " or ".join(f"'transport: {name}'" for name in SCHEDULERS)

# The transports that a host chooses by a key of that name.
_TRANSPORT_KEYS = ("ssh", "netns")


class Host(StrictModel):
    """A machine: the addresses that test traffic goes to, and the way to start programs there.

    `networks` are addresses beside the plain one, by the network's name. `netns` is a network
    namespace on this machine, `holder` the process whose user namespace it is in, if not ours;
    `node` is Slurm's name of the host where that is not its address. `peaks` are what it could do
    at most, as far as its owner says.
    """

    address: Address
    networks: dict[Label, Address] = Field(default={})
    ssh: Destination | None = None
    netns: Namespace | None = None
    holder: Annotated[int, Field(ge=1)] | None = None
    transport: TransportName | None = None
    node: Address | None = None
    peaks: Peaks = Field(default=Peaks())

    @model_validator(mode="after")
    def _check_transport(self) -> Host:
        keys = (*_TRANSPORT_KEYS, "transport")
        if sum(getattr(self, key) is not None for key in keys) != 1:
            raise ValueError(
                "say one of 'ssh: [user@]host[:port]', 'netns: NAME' (a network namespace on this "
                f"machine), {_IN_ALLOCATION} (in an allocation) and 'transport: local' (this "
                "machine)"
            )
        if self.holder is not None and self.netns is None:
            raise ValueError("'holder' belongs to 'netns': leave it out, or name the namespace")
        if self.node is not None and self.scheduler is None:
            raise ValueError(f"'node' belongs to {_IN_ALLOCATION}: leave it out, or say that")
        return self

    @property
    def transport_name(self) -> str:
        """How it is reached: a name of `TRANSPORTS`."""
        keys = (key for key in _TRANSPORT_KEYS if getattr(self, key) is not None)
        return next(keys, self.transport or "local")

    @property
    def scheduler(self) -> Scheduler | None:
        """The scheduler of which it is a node, None where it isn't reached by one."""
        return SCHEDULERS.get(self.transport_name)

    @property
    def launcher(self) -> str:
        """The program that starts MPI's ranks there."""
        return (self.scheduler.launcher if self.scheduler else None) or "mpirun"

    @property
    def node_name(self) -> str:
        """The scheduler's name of it."""
        return self.node or self.address

    @property
    def machine(self) -> str:
        """What is the same for two hosts on one machine: `local`, or ssh's host and port …"""
        if self.ssh is not None:
            return self.ssh.rpartition("@")[2].lower()
        if self.netns is not None:
            owner = "" if self.holder is None else f" of {self.holder}"
            return f"netns {self.netns}{owner}"
        return f"{self.transport} {self.node_name}" if self.scheduler else "local"

    def address_on(self, network: str | None) -> str:
        """Return its address for test traffic on `network`, or the plain one; KeyError."""
        return self.address if network is None else self.networks[network]


def launcher_of(hosts: Iterable[Host]) -> str:
    """Return the program that starts MPI's ranks on all these hosts."""
    launchers = {host.launcher for host in hosts}
    return launchers.pop() if len(launchers) == 1 else "mpirun"


class Mpi(StrictModel):
    """How MPI jobs are started on the hosts.

    `prefix` is the folder of the bin/mpirun and bin/mpicc to use (else those in PATH), `agent` the
    command that mpirun reaches other hosts with in place of ssh. The launcher is srun where Slurm
    holds the hosts, else mpirun.
    """

    launcher: LauncherName | None = None
    prefix: Folder | None = None
    agent: str | None = None


class HostsFile(StrictModel):
    """Hosts, links and what is between them, kept apart from the plans that use them."""

    hosts: Annotated[dict[Label, Host], OrAllocation()] = Field(min_length=1)
    equipment: dict[Device, Equipment] = Field(default={})
    links: dict[Label, LinkEntry] = Field(default={})
    groups: dict[Label, Members] = Field(default={})
    mpi: Mpi = Field(default=Mpi())


class Test(StrictModel):
    """One engine on some links, hosts or groups, with the parameters that stay and that vary.

    Of groups, the hosts' addresses on `network` are used (a link says itself which one it is on).
    `system_log` None keeps none; `soak` measures the CPUs' load by what soakers lose to it. The
    order of a test with a rule for its replications is random unless it says another. A replication
    that takes longer than `limit` seconds has failed; None: what its engine may need at most.
    """

    __test__ = False  # Not one of pytest's.

    name: Label
    engine: str
    links: Labels | None = None
    hosts: Members | None = None
    groups: Labels | None = None
    network: Label | None = None
    set: dict[str, Scalar] = Field(default={})
    grid: dict[str, Axis] = Field(default={})
    zip: list[dict[str, Axis]] = Field(default=[])
    exclude: list[dict[str, OneOrMore]] = Field(default=[])
    replications: OrNumber = 10
    order: Literal["sequential", "interleaved", "random"] = "interleaved"
    system_log: OrOff = SystemLogging()
    soak: bool = False
    limit: Annotated[Time, Field(gt=0)] | None = None

    @property
    def rule(self) -> Replications | None:
        """When a case has been measured often enough; None: after a fixed number."""
        return self.replications if isinstance(self.replications, Replications) else None

    @property
    def least(self) -> int:
        """How often a case is measured at least."""
        return self.replications if isinstance(self.replications, int) else self.replications.min

    @property
    def most(self) -> int:
        """How often a case is measured at most."""
        return self.replications if isinstance(self.replications, int) else self.replications.max

    @model_validator(mode="before")
    @classmethod
    def _random_by_default(cls, data: Any) -> Any:
        """Shuffle by default where it isn't known how many blocks a case is in."""
        if isinstance(data, dict) and isinstance(data.get("replications"), dict | Replications):
            return {"order": "random", **data}
        return data

    @model_validator(mode="after")
    def _check_order(self) -> Test:
        if self.rule is not None and self.order == "sequential":
            raise ValueError(
                "'order: sequential' measures a case at one go, but a rule for its replications "
                "is asked after each: write random or interleaved, or a number of replications"
            )
        return self

    @model_validator(mode="after")
    def _check_soak(self) -> Test:
        if self.soak and self.system_log is None:
            raise ValueError(
                "'soak' keeps its figures in the system log: leave 'system_log: off' out"
            )
        return self


class Plan(StrictModel):
    """What to measure.

    Once it is loaded, `hosts`, `equipment`, `groups` and `mpi` are complete with what its hosts
    file says, groups are of hosts alone, and `links` are single ones, patterns written out.

    `concurrency` bounds how many replications run at the same time on disjoint hosts. It is 1
    unless the plan says otherwise, as links without a common host may share a switch. Measuring
    ends after `budget` seconds. Tests come one after another, or with `test_order` interleaved in
    turns. `smallest_change` is, by metric, the share of change that matters.
    With `require` nothing is measured where an engine of its tests has no certificate.
    """

    railgauge: Version
    name: Slug
    description: str = ""
    hosts: Annotated[dict[Label, Host], OrAllocation()] = Field(default={})
    hosts_file: str | None = None
    equipment: dict[Device, Equipment] = Field(default={})
    links: dict[Label, LinkEntry] = Field(default={})
    groups: dict[Label, Members] = Field(default={})
    mpi: Mpi | None = None
    engines: list[str] = Field(default=[])
    tests: list[Test] = Field(min_length=1)
    test_order: Literal["sequential", "interleaved"] = "sequential"
    concurrency: int = Field(default=1, ge=1, le=1_000_000)
    seed: int | None = Field(default=None, ge=0, le=2**63 - 1)
    control_port: int = Field(default=0, ge=0, le=65535)
    budget: Time | None = None
    smallest_change: Shares = Field(default={})
    require: Literal["certificate"] | None = None

    def smallest(self, metric: str) -> float | None:
        """Return the share of change that matters in `metric`; None: the plan says none."""
        return self.smallest_change.get(metric, self.smallest_change.get("default"))

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """All addresses that test traffic may go to, each once."""
        addresses = (
            address
            for host in self.hosts.values()
            for address in (host.address, *host.networks.values())
        )
        return tuple(dict.fromkeys(addresses))
