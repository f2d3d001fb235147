"""System logs, what equipment counted, and why replications are suspect."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
IN_TICKS = "user nice system idle iowait irq softirq steal guest guest_nice".split()
CPU_TIMES = [f"cpu_{name}" for name in IN_TICKS]

# Columns of counts, then those of seconds, by table.
COUNTS = {
    "host_log": (
        "interrupts context_switches forks softirqs running blocked paged_in paged_out swaps_in "
        "swaps_out page_faults major_page_faults oom_kills cgroup_throttles cgroup_memory "
        "cgroup_memory_limit"
    ).split(),
    "memory_log": (
        "memtotal memfree memavailable buffers cached swapcached active inactive active_anon "
        "inactive_anon active_file inactive_file unevictable mlocked swaptotal swapfree zswap "
        "zswapped dirty writeback anonpages mapped shmem kreclaimable slab sreclaimable "
        "sunreclaim kernelstack pagetables secpagetables nfs_unstable bounce writebacktmp "
        "commitlimit committed_as vmalloctotal vmallocused vmallocchunk percpu hardwarecorrupted "
        "anonhugepages shmemhugepages shmempmdmapped filehugepages filepmdmapped cmatotal cmafree "
        "unaccepted balloon hugepages_total hugepages_free hugepages_rsvd hugepages_surp "
        "hugepagesize hugetlb directmap4k directmap2m directmap1g"
    ).split(),
    "cpu_log": (
        "softnet_processed softnet_dropped softnet_time_squeeze softnet_received_rps "
        "softnet_flow_limit throttle_core_count throttle_package_count frequency"
    ).split(),
    "interface_log": (
        "rx_bytes rx_packets rx_errors rx_dropped rx_fifo rx_frame rx_compressed rx_multicast "
        "tx_bytes tx_packets tx_errors tx_dropped tx_fifo tx_collisions tx_carrier tx_compressed "
        "rx_missed_errors rx_crc_errors rx_length_errors rx_over_errors rx_nohandler "
        "tx_aborted_errors tx_heartbeat_errors tx_window_errors"
    ).split(),
    "port_log": (
        "ifhcinoctets ifhcinucastpkts ifhcinmulticastpkts ifhcinbroadcastpkts ifindiscards "
        "ifinerrors ifinunknownprotos ifhcoutoctets ifhcoutucastpkts ifhcoutmulticastpkts "
        "ifhcoutbroadcastpkts ifoutdiscards ifouterrors ifinoctets ifinucastpkts "
        "ifinmulticastpkts ifinbroadcastpkts ifoutoctets ifoutucastpkts ifoutmulticastpkts "
        "ifoutbroadcastpkts"
    ).split(),
}
SECONDS = {
    "host_log": [
        *CPU_TIMES,
        *(
            f"pressure_{of}_{share}"
            for of in ("cpu", "memory", "io", "irq")
            for share in ("some", "full")
        ),
        "cgroup_throttled",
        "cgroup_cpu",
    ],
    "cpu_log": [*CPU_TIMES, "throttle_core_time", "throttle_package_time"],
}

# Soakers are nice, and stand for what would have been idle.
CPU_LOAD = """
       (coalesce(cpu_user, 0) + coalesce(cpu_system, 0)
        + CASE WHEN EXISTS (SELECT 1 FROM soak_log WHERE soak_log.log_id = log.id) THEN 0
               ELSE coalesce(cpu_nice, 0) END
        + coalesce(cpu_irq, 0) + coalesce(cpu_softirq, 0) + coalesce(cpu_steal, 0))
       / nullif(coalesce(cpu_user, 0) + coalesce(cpu_nice, 0) + coalesce(cpu_system, 0)
                + coalesce(cpu_irq, 0) + coalesce(cpu_softirq, 0) + coalesce(cpu_steal, 0)
                + coalesce(cpu_idle, 0) + coalesce(cpu_iowait, 0), 0) AS cpu_load"""
OF_HOST = [
    *CPU_TIMES,
    *"interrupts context_switches paged_in paged_out swaps_in swaps_out".split(),
]
OF_INTERFACES = [
    f"{way}_{what}" for way in ("rx", "tx") for what in ("packets", "bytes", "errors", "dropped")
]
OF_PROTOCOLS = {
    "udp_rcvbuf_errors": "protocol IN ('Udp', 'Udp6') AND counter = 'RcvbufErrors'",
    "udp_in_errors": "protocol IN ('Udp', 'Udp6') AND counter = 'InErrors'",
    "ip_reassembly_failures": "protocol IN ('Ip', 'Ip6') AND counter = 'ReasmFails'",
    "tcp_retransmits": "protocol = 'Tcp' AND counter = 'RetransSegs'",
}


def of_host(name):
    """Return the SQL for a count of the host; what didn't move is 0 if anything else did."""
    return f"CASE WHEN host_log.log_id IS NOT NULL THEN coalesce({name}, 0) END AS {name}"


def total(name, table, what, which="TRUE"):
    """Return the SQL for a sum over a table's rows of the log, NULL without any row.

    By way of doubles, as a sum of absurd integers would be an error; to 2^53 they are exact.
    """
    figure = f"sum(1.0 * {what})"
    return (
        f"(SELECT CAST(CASE WHEN abs({figure}) < 9e18 THEN {figure} END AS BIGINT)"
        f" FROM {table} WHERE {table}.log_id = log.id AND {which}) AS {name}"
    )


def view():
    """Return the view's definition; each of its sums is a search by the log's id."""
    columns = [
        *(of_host(name) for name in OF_HOST),
        """(SELECT 1 - memavailable / nullif(1.0 * memtotal, 0) FROM memory_log
        WHERE memory_log.log_id = log.id) AS memory_used""",
        *(
            total(name, "interface_log", f"coalesce({name}, 0)", "interface <> 'lo'")
            for name in OF_INTERFACES
        ),
        *(
            total(name, "protocol_log", f"CASE WHEN {which} AND NOT is_gauge THEN value ELSE 0 END")
            for name, which in OF_PROTOCOLS.items()
        ),
        total("softnet_dropped", "cpu_log", "coalesce(softnet_dropped, 0)"),
    ]
    separator = ",\n       "
    # With a plus, or SQLite would take the number's bound for the log's, and search by that.
    return f"""
CREATE VIEW system_log AS
SELECT run.id AS run, run.plan AS plan, run_case.test AS test, bench_case.engine AS engine,
       bench_case.link AS link, bench_case.key AS case_key, replication.number AS replication,
       log.host AS host,
       CASE WHEN bench_case.members_id IS NOT NULL AND bench_case.server_host IS NULL THEN 'member'
            WHEN log.host = bench_case.client_host THEN 'client'
            WHEN log.host = bench_case.server_host THEN 'server'
            ELSE 'member' END AS side,
       log.started_at AS started_at, log.elapsed AS elapsed, {CPU_LOAD},
       (SELECT avg(load) FROM soak_log WHERE soak_log.log_id = log.id) AS cpu_load_soak,
       {separator.join(columns)}
FROM run
JOIN run_case ON run_case.run_id = run.id
JOIN bench_case ON bench_case.id = run_case.case_id
JOIN replication ON replication.run_case_id = run_case.id
JOIN log ON log.launch_id = replication.launch_id AND log.number = +replication.number
        AND log.scope IN ('', bench_case.client_host, bench_case.server_host)
LEFT JOIN host_log ON host_log.log_id = log.id
WHERE replication.number > 0
"""


def log_table(name, *key):
    """Make a table of logs: its key, and a column for each of its counters, if it has such."""
    keys = ["log_id", *(column.name for column in key if column.primary_key)]
    columns = [sa.Column(column.name, column.type, nullable=False) for column in key]
    columns += [sa.Column(count, sa.BigInteger) for count in COUNTS.get(name, [])]
    columns += [sa.Column(seconds, sa.Float(53)) for seconds in SECONDS.get(name, [])]
    op.create_table(
        name,
        sa.Column("log_id", ID, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint(*keys, name=f"pk_{name}"),
        sa.ForeignKeyConstraint(["log_id"], ["log.id"], name=f"fk_{name}_log_id"),
        sqlite_with_rowid=False,
    )


def key(name, kind):
    """Return a column of a table's key."""
    return sa.Column(name, kind, primary_key=True)


def upgrade() -> None:
    """Make them; what was stored before has none."""
    op.create_table(
        "label_set",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_label_set"),
        sa.UniqueConstraint("key", name="uq_label_set_key"),
    )
    op.create_table(
        "label",
        sa.Column("label_set_id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("label_set_id", "name", name="pk_label"),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_set.id"], name="fk_label_label_set_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "log",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("launch_id", ID),
        sa.Column("number", sa.Integer),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text, nullable=False),
        sa.Column("elapsed", sa.Float(53), nullable=False),
        sa.Column("ticks_per_second", sa.Integer, nullable=False),
        sa.Column("label_set_id", sa.Integer),
        sa.PrimaryKeyConstraint("id", name="pk_log"),
        sa.UniqueConstraint(
            "launch_id", "number", "scope", "host", name="uq_log_launch_id_number_scope_host"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_log_run_id"),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name="fk_log_launch_id"),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_set.id"], name="fk_log_label_set_id"),
    )
    op.create_index(
        "ix_log_idle",
        "log",
        ["run_id"],
        sqlite_where=sa.text("launch_id IS NULL"),
        postgresql_where=sa.text("launch_id IS NULL"),
    )
    log_table("host_log")
    log_table("memory_log")
    log_table("cpu_log", key("cpu", sa.Integer))
    log_table("interface_log", key("interface", sa.Text))
    log_table(
        "interrupt_log",
        key("kind", sa.Text),
        key("name", sa.Text),
        key("cpu", sa.Integer),
        sa.Column("count", sa.BigInteger),
    )
    log_table(
        "protocol_log",
        key("protocol", sa.Text),
        key("counter", sa.Text),
        key("is_gauge", sa.Boolean),
        sa.Column("value", sa.BigInteger),
    )
    log_table(
        "fabric_log",
        key("device", sa.Text),
        key("port", sa.Text),
        key("counter", sa.Text),
        sa.Column("value", sa.BigInteger),
    )
    log_table(
        "counter_log",
        key("name", sa.Text),
        key("is_gauge", sa.Boolean),
        sa.Column("value", sa.BigInteger),
    )
    log_table(
        "soak_log",
        key("cpu", sa.Integer),
        sa.Column("load", sa.Float(53)),
        sa.Column("lost", sa.Float(53)),
        sa.Column("slowdown", sa.Float(53)),
    )
    op.create_table(
        "counter",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_counter"),
        sa.UniqueConstraint("name", name="uq_counter_name"),
    )
    op.create_table(
        "log_series",
        sa.Column("log_id", ID, nullable=False),
        sa.Column("samples", sa.Integer, nullable=False),
        sa.Column("counters", sa.LargeBinary, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("log_id", name="pk_log_series"),
        sa.ForeignKeyConstraint(["log_id"], ["log.id"], name="fk_log_series_log_id"),
    )
    op.create_table(
        "log_note",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("launch_id", ID),
        sa.Column("number", sa.Integer),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_log_note"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_log_note_run_id"),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name="fk_log_note_launch_id"),
    )
    op.create_index("ix_log_note_run_id", "log_note", ["run_id"])
    op.create_table(
        "port_log",
        sa.Column("launch_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("interface", sa.Text, nullable=False),
        *(sa.Column(count, sa.BigInteger) for count in COUNTS["port_log"]),
        sa.PrimaryKeyConstraint("launch_id", "number", "place", name="pk_port_log"),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name="fk_port_log_launch_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "port_counter_log",
        sa.Column("launch_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "launch_id", "number", "place", "name", name="pk_port_counter_log"
        ),
        sa.ForeignKeyConstraint(
            ["launch_id", "number", "place"],
            ["port_log.launch_id", "port_log.number", "port_log.place"],
            name="fk_port_counter_log_launch_id_number_place",
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "suspicion",
        sa.Column("run_case_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("host", sa.Text),
        sa.Column("message", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_case_id", "number", "place", name="pk_suspicion"),
        sa.ForeignKeyConstraint(
            ["run_case_id", "number"],
            ["replication.run_case_id", "replication.number"],
            name="fk_suspicion_run_case_id_number",
        ),
        sqlite_with_rowid=False,
    )
    op.execute(view())
