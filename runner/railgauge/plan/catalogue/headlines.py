"""The metrics that say most: what tables show and runs are judged by when nobody says which."""

from __future__ import annotations

# The metrics that say most, in the order of their columns; "" lets the values pick the unit.
TABLE_HEADLINES = {
    "throughput": "",
    "reverse_throughput": "",
    "total_throughput": "",
    "local_throughput": "",
    "loss_rate": "%",
    "latency": "",
    "time_p50": "",
    "rtt_p50": "",
    "rtt_p99": "",
    "operation_rate": "",
    "operations_per_cycle": "",
    "clock": "",
    "accesses": "",
    "iops": "",
    "latency_p50": "",
    "latency_p99": "",
    "fsync_time": "",
    "connection_rate": "",
    "connect_p50": "",
    "connect_p99": "",
    "wall_time": "",
}
# The same for a page about one case, where the loads of its CPUs stand beside.
HEADLINES = {
    **TABLE_HEADLINES,
    "client_cpu_per_gigabyte": "s",
    "server_cpu_per_gigabyte": "s",
}
