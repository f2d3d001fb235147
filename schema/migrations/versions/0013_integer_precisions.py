"""rail-cpu's integers by their bits: int8 and int16 were called quarter and half precision."""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NAMES = {"quarter": "int8", "half": "int16"}
PLACE = ("engine", "link", "client_host", "server_host")
CASES = sa.table(
    "bench_case", *(sa.column(name) for name in ("id", "key", *PLACE, "parameters", "members_id"))
)
PEAKS = sa.table("peak", sa.column("resource"))


def key(case, parameters):
    """Return a host's case's key, as plans' cases have it."""
    parts = [*(case[name] for name in PLACE), sorted(map(list, parameters.items()))]
    text = json.dumps(parts, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def upgrade() -> None:
    """Rename them, and give their cases the keys that plans with the new names have."""
    connection = op.get_bind()
    query = sa.select(CASES).where(CASES.c.engine == "cpu", CASES.c.members_id.is_(None))
    for case in connection.execute(query).mappings().all():
        before = json.loads(case["parameters"])
        name = NAMES.get(before.get("precision"))
        if name is None:
            continue
        after = {**before, "precision": name}
        # What was imported may have a key of its own.
        new_key = key(case, after) if case["key"] == key(case, before) else case["key"]
        text = json.dumps(after, sort_keys=True, ensure_ascii=False)
        change = sa.update(CASES).where(CASES.c.id == case["id"])
        connection.execute(change.values(key=new_key, parameters=text))
    for before, after in NAMES.items():
        change = sa.update(PEAKS).where(PEAKS.c.resource == f"cpu_{before}")
        connection.execute(change.values(resource=f"cpu_{after}"))
