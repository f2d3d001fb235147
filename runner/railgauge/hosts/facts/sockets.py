"""The limits and defaults of sockets (Documentation/admin-guide/sysctl/net.rst, ip-sysctl.rst)."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files

_FOLDER = "/proc/sys/net/"
_NAMES = (
    "core/rmem_default",
    "core/rmem_max",
    "core/wmem_default",
    "core/wmem_max",
    "core/optmem_max",
    "core/somaxconn",
    "core/netdev_max_backlog",
    "core/netdev_budget",
    "core/netdev_budget_usecs",
    "core/dev_weight",
    "core/default_qdisc",
    "core/busy_poll",
    "core/busy_read",
    "core/rps_sock_flow_entries",
    "core/tstamp_allow_data",
    "core/bpf_jit_enable",
    "ipv4/tcp_rmem",
    "ipv4/tcp_wmem",
    "ipv4/tcp_mem",
    "ipv4/tcp_congestion_control",
    "ipv4/tcp_available_congestion_control",
    "ipv4/tcp_allowed_congestion_control",
    "ipv4/tcp_timestamps",
    "ipv4/tcp_window_scaling",
    "ipv4/tcp_sack",
    "ipv4/tcp_dsack",
    "ipv4/tcp_ecn",
    "ipv4/tcp_fastopen",
    "ipv4/tcp_autocorking",
    "ipv4/tcp_slow_start_after_idle",
    "ipv4/tcp_no_metrics_save",
    "ipv4/tcp_moderate_rcvbuf",
    "ipv4/tcp_adv_win_scale",
    "ipv4/tcp_mtu_probing",
    "ipv4/tcp_notsent_lowat",
    "ipv4/tcp_limit_output_bytes",
    "ipv4/tcp_min_tso_segs",
    "ipv4/tcp_tso_win_divisor",
    "ipv4/tcp_pacing_ss_ratio",
    "ipv4/tcp_pacing_ca_ratio",
    "ipv4/tcp_early_retrans",
    "ipv4/tcp_recovery",
    "ipv4/tcp_reordering",
    "ipv4/tcp_max_syn_backlog",
    "ipv4/tcp_tw_reuse",
    "ipv4/tcp_fin_timeout",
    "ipv4/udp_mem",
    "ipv4/udp_rmem_min",
    "ipv4/udp_wmem_min",
    "ipv4/udp_early_demux",
    "ipv4/tcp_early_demux",
    "ipv4/ip_early_demux",
    "ipv4/ip_local_port_range",
    "ipv4/ip_forward",
    "ipv4/ip_no_pmtu_disc",
    "ipv4/ipfrag_high_thresh",
    "ipv4/ipfrag_low_thresh",
    "ipv4/ipfrag_time",
    "ipv4/conf/all/rp_filter",
    "ipv6/conf/all/disable_ipv6",
    "netfilter/nf_conntrack_max",
    "mptcp/enabled",
)
_PATHS = tuple(_FOLDER + name for name in _NAMES)


def parse(files: Files) -> dict[str, str]:
    """Return one fact a sysctl, named as sysctl(8) names it: `net.core.rmem_max`."""
    return {
        "net." + name.replace("/", "."): " ".join(files[_FOLDER + name][0].split())
        for name in _NAMES
        if _FOLDER + name in files
    }


SOURCE = FactSource(_PATHS, parse)
