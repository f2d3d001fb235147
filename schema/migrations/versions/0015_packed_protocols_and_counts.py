"""A log's counters of protocols in one row, compressed, and what a run that is over came to."""

import runpy
import struct
import zlib
from collections import defaultdict
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

LOGS = 1_000
BITS = 2**64 - 1
LARGEST_SUM = 9 * 10**18
SUMS = {
    "udp_rcvbuf_errors": ("protocol/Udp/RcvbufErrors", "protocol/Udp6/RcvbufErrors"),
    "udp_in_errors": ("protocol/Udp/InErrors", "protocol/Udp6/InErrors"),
    "ip_reassembly_failures": ("protocol/Ip/ReasmFails", "protocol/Ip6/ReasmFails"),
    "tcp_retransmits": ("protocol/Tcp/RetransSegs",),
}
COUNTER = sa.table("counter", sa.column("id", sa.Integer), sa.column("name", sa.Text))
ROWS = sa.text(
    "SELECT log_id, is_gauge, protocol, counter, value FROM protocol_log"
    " WHERE log_id BETWEEN :first AND :last"
)
# Of a case that is skipped or has ended: what it gave, at least what its rule needs at least.
NEEDED = """CASE WHEN skipped IS NULL AND least > measured THEN least ELSE measured END"""
COUNTS = f"""
UPDATE run SET
    case_count = (SELECT count(*) FROM run_case WHERE run_id = run.id),
    skipped_count = (SELECT count(skipped) FROM run_case WHERE run_id = run.id),
    asked_count = (
        SELECT coalesce(
            sum(CASE WHEN skipped IS NULL AND ended IS NULL THEN replications ELSE {NEEDED} END), 0)
        FROM (SELECT skipped, ended, least, replications,
                     (SELECT count(*) FROM replication
                      WHERE run_case_id = run_case.id AND number > 0) AS measured
              FROM run_case WHERE run_id = run.id) AS one),
    measured_count = (
        SELECT count(*) FROM run_case JOIN replication ON run_case_id = run_case.id
        WHERE run_id = run.id AND number > 0 AND status <> 'failed'),
    failed_count = (
        SELECT count(*) FROM run_case JOIN replication ON run_case_id = run_case.id
        WHERE run_id = run.id AND number > 0 AND status <> 'ok' AND status = 'failed')
WHERE state <> 'unfinished'"""


def view():
    """Return the view's definition: sums of counters of protocols stand in their row."""
    first = runpy.run_path(str(Path(__file__).with_name("0004_system_logs.py")))
    text = first["view"]()
    for name, which in first["OF_PROTOCOLS"].items():
        what = f"CASE WHEN {which} AND NOT is_gauge THEN value ELSE 0 END"
        total = first["total"](name, "protocol_log", what)
        text = text.replace(total, f"packed_protocol_log.{name} AS {name}")
    host = "LEFT JOIN host_log ON host_log.log_id = log.id\n"
    packed = "LEFT JOIN packed_protocol_log ON packed_protocol_log.log_id = log.id\n"
    return text.replace(host, host + packed)


def compressed(words):
    """Return words of 64 bits, their first bytes first."""
    data = struct.pack(f"<{len(words)}Q", *(word & BITS for word in words))
    return zlib.compress(b"".join(data[byte::8] for byte in range(8)))


def packed(log_id, counts, gauges, numbers):
    """Return a log's row; `numbers` are those of names."""
    names = [*sorted(counts), *sorted(gauges)]
    values = [*(counts[name] for name in sorted(counts)), *(gauges[name] for name in sorted(gauges))]
    ids = [numbers[name] for name in names]
    steps = [number - before for number, before in zip(ids, [0, *ids], strict=False)]
    sums = {
        column: sum(counts.get(name, 0) for name in of_sum) for column, of_sum in SUMS.items()
    }
    return {
        "log_id": log_id,
        **{name: value if abs(value) < LARGEST_SUM else None for name, value in sums.items()},
        "gauges": len(gauges),
        "counters": compressed(steps),
        # The time of the only sample, then zigzag.
        "data": compressed([0, *((value << 1) ^ (value >> 63) for value in values)]),
    }


def add_names(connection, names, numbers):
    """Give those of the names that have none a number."""
    new = [{"name": name} for name in sorted(set(names) - numbers.keys())]
    if new:
        connection.execute(sa.insert(COUNTER), new)
        numbers.update(connection.execute(sa.select(COUNTER.c.name, COUNTER.c.id)).all())


def pack(connection, table):
    """Fill the table with what stands in protocol_log, some logs at once."""
    numbers = dict(connection.execute(sa.select(COUNTER.c.name, COUNTER.c.id)).all())
    log_ids = connection.scalars(sa.text("SELECT id FROM log ORDER BY id")).all()
    for place in range(0, len(log_ids), LOGS):
        part = log_ids[place : place + LOGS]
        logs = defaultdict(lambda: ({}, {}))
        for log_id, is_gauge, protocol, counter, value in connection.execute(
            ROWS, {"first": part[0], "last": part[-1]}
        ):
            logs[log_id][bool(is_gauge)][f"protocol/{protocol}/{counter}"] = value
        if logs:
            add_names(connection, {n for log in logs.values() for of in log for n in of}, numbers)
            rows = [packed(log_id, *logs[log_id], numbers) for log_id in sorted(logs)]
            connection.execute(sa.insert(table), rows)


def upgrade() -> None:
    """Pack what there is, and count runs that are over."""
    table = op.create_table(
        "packed_protocol_log",
        sa.Column(
            "log_id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False
        ),
        *(sa.Column(name, sa.BigInteger) for name in SUMS),
        sa.Column("gauges", sa.Integer, nullable=False),
        sa.Column("counters", sa.LargeBinary, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("log_id", name="pk_packed_protocol_log"),
        sa.ForeignKeyConstraint(
            ["log_id"], ["log.id"], name="fk_packed_protocol_log_log_id"
        ),
    )
    op.execute("DROP VIEW system_log")
    pack(op.get_bind(), table)
    op.drop_table("protocol_log")
    op.execute(view())
    # Both databases take this; Alembic would give SQLite a statement that it doesn't know.
    for name in ("case", "skipped", "asked", "measured", "failed"):
        op.execute(f"ALTER TABLE run ADD COLUMN {name}_count INTEGER")
    op.execute(COUNTS)
