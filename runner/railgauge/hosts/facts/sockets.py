"""The limits and defaults of sockets (Documentation/admin-guide/sysctl/net.rst, ip-sysctl.rst)."""

from __future__ import annotations

from railgauge.hosts.facts.source import FactSource, Files

_FOLDER = "/proc/sys/net/"
_SYSCTLS = {
    "core": (
        "rmem_default rmem_max wmem_default wmem_max optmem_max somaxconn netdev_max_backlog "
        "netdev_budget netdev_budget_usecs dev_weight default_qdisc busy_poll busy_read "
        "rps_sock_flow_entries tstamp_allow_data bpf_jit_enable"
    ),
    "ipv4": (
        "tcp_rmem tcp_wmem tcp_mem tcp_congestion_control tcp_available_congestion_control "
        "tcp_allowed_congestion_control tcp_timestamps tcp_window_scaling tcp_sack tcp_dsack "
        "tcp_ecn tcp_fastopen tcp_autocorking tcp_slow_start_after_idle tcp_no_metrics_save "
        "tcp_moderate_rcvbuf tcp_adv_win_scale tcp_mtu_probing tcp_notsent_lowat "
        "tcp_limit_output_bytes tcp_min_tso_segs tcp_tso_win_divisor tcp_pacing_ss_ratio "
        "tcp_pacing_ca_ratio tcp_early_retrans tcp_recovery tcp_reordering tcp_max_syn_backlog "
        "tcp_tw_reuse tcp_fin_timeout udp_mem udp_rmem_min udp_wmem_min udp_early_demux "
        "tcp_early_demux ip_early_demux ip_local_port_range ip_forward ip_no_pmtu_disc "
        "ipfrag_high_thresh ipfrag_low_thresh ipfrag_time"
    ),
    "ipv4/conf/all": "rp_filter",
    "ipv6/conf/all": "disable_ipv6",
    "netfilter": "nf_conntrack_max",
    "mptcp": "enabled",
}
_NAMES = [f"{folder}/{name}" for folder, names in _SYSCTLS.items() for name in names.split()]
_PATHS = tuple(_FOLDER + name for name in _NAMES)


def parse(files: Files) -> dict[str, str]:
    """Return one fact a sysctl, named as sysctl(8) names it: `net.core.rmem_max`."""
    return {
        "net." + name.replace("/", "."): " ".join(files[_FOLDER + name][0].split())
        for name in _NAMES
        if _FOLDER + name in files
    }


SOURCE = FactSource(_PATHS, parse)
