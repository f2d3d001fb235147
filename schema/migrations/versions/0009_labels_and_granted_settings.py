"""What people call runs (KEY=VALUE), and a view of what each launch's ends were granted."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

# Of settings that are numbers; every other one has none. As in engine/granted_settings.py.
UNITS = {
    "s": ("busy_poll", "clock_offset", "clock_offset_error", "control_rtt"),
    "B": (
        "data_size",
        "file_bytes",
        "free_bytes",
        "last_level_cache",
        "memory_bytes",
        "message_size",
        "mss",
        "packet_size",
        "rcvbuf",
        "sndbuf",
        "total",
    ),
    "bit": ("register_bits",),
}
# A member of the JSON text `settings`: its name, its value where that is a number, else its text.
MEMBERS = {
    "sqlite": (
        "json_each(side.settings) AS member",
        "member.key",
        "CASE WHEN member.type IN ('integer', 'real') THEN CAST(member.value AS REAL) END",
        "CASE member.type WHEN 'integer' THEN NULL WHEN 'real' THEN NULL WHEN 'true' THEN 'true'"
        " WHEN 'false' THEN 'false' ELSE CAST(member.value AS TEXT) END",
    ),
    "postgresql": (
        "json_each(CAST(side.settings AS json)) AS member (key, value)",
        "member.key",
        "CASE WHEN json_typeof(member.value) = 'number'"
        " THEN CAST(member.value #>> '{}' AS DOUBLE PRECISION) END",
        "CASE WHEN json_typeof(member.value) <> 'number' THEN member.value #>> '{}' END",
    ),
}


def view(dialect):
    """Return the statement that makes the view."""
    members, name, value, text = MEMBERS[dialect]
    units = " ".join(
        f"WHEN {name} = '{setting}' THEN '{unit}'"
        for unit, settings in UNITS.items()
        for setting in settings
    )
    return f"""
CREATE VIEW granted_setting AS
SELECT run.id AS run, run.plan AS plan, side.test AS test, bench_case.engine AS engine,
       bench_case.link AS link, bench_case.key AS case_key, side.launch AS launch,
       side.started_at AS started_at, side.side AS side,
       CASE WHEN side.side = 'server' THEN bench_case.server_host
            ELSE bench_case.client_host END AS host,
       {name} AS setting, {value} AS value, CASE {units} ELSE '' END AS unit, {text} AS text
FROM run
JOIN (SELECT run_case.run_id AS run_id, run_case.case_id AS case_id, run_case.test AS test,
             launch.id AS launch, launch.started_at AS started_at, 'client' AS side,
             launch.client AS settings
      FROM run_case JOIN launch ON launch.run_case_id = run_case.id
      UNION ALL
      SELECT run_case.run_id, run_case.case_id, run_case.test, launch.id, launch.started_at,
             'server', launch.server
      FROM run_case JOIN launch ON launch.run_case_id = run_case.id) AS side
     ON side.run_id = run.id
JOIN bench_case ON bench_case.id = side.case_id
CROSS JOIN {members if dialect == "sqlite" else f"LATERAL {members}"}
"""


def upgrade() -> None:
    """Make them; runs that were stored before have no label."""
    op.create_table(
        "run_label",
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "key", name="pk_run_label"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_label_run_id"),
    )
    op.execute(view(op.get_bind().dialect.name))
