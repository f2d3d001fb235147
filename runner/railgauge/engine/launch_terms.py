"""What a plan says of a launch beside its case: where it happens, and what is known of the link."""

from __future__ import annotations

from railgauge.engine.command_lines import Terms
from railgauge.engine.mpi_job import Launcher
from railgauge.plan.model import Mpi, Plan, launcher_of
from railgauge.plan.schedule import Dispatch


def launch_terms(plan: Plan, dispatch: Dispatch) -> Terms:
    """Return what the plan says of a launch beside its case."""
    case = dispatch.case
    link = plan.links.get(case.link) if not case.members and case.server is not None else None
    test = next(test for test in plan.tests if test.name == dispatch.test)
    network = link.network if link is not None else test.network
    hosts = [plan.hosts[name] for name in dispatch.hosts]
    mpi = plan.mpi or Mpi()
    return Terms(
        plan.control_port,
        plan.addresses,
        link.rate if link else None,
        tuple(host.address_on(network) for host in hosts),
        tuple(host.node_name for host in hosts),
        Launcher(mpi.launcher or launcher_of(hosts), mpi.agent, mpi.prefix or ""),
        limit=test.limit,
    )
