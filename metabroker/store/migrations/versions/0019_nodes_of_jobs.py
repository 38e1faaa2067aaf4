"""On how many nodes the tasks of a job are, where its user says so"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

_LIVE = "jobs.state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT')"
# What its user has asked for is with its script; that of a task with its array's.
_jobs = sa.table(
    "jobs",
    *(sa.column(name) for name in ("id", "of")),
    *(sa.column(name, sa.JSON()) for name in ("sizes", "shape", "nodes")),
)
_scripts = sa.table("scripts", sa.column("job"), sa.column("spec", sa.JSON()))


def upgrade() -> None:
    op.add_column("jobs", sa.Column("nodes", sa.JSON(), nullable=True))
    whose = sa.func.coalesce(_jobs.c.of, _jobs.c.id)
    query = sa.select(_jobs.c.id, _jobs.c.sizes, _jobs.c.shape, _scripts.c.spec)
    found = query.where(_scripts.c.job == whose, sa.text(_LIVE))
    for number, sizes, shape, spec in op.get_bind().execute(found).all():
        nodes = _nodes(spec or {}, sizes[0] // (shape or {}).get("cpus_per_task", 1))
        if nodes is not None:
            op.execute(_jobs.update().where(_jobs.c.id == number).values(nodes=nodes))


def _nodes(spec: Mapping[str, Any], tasks: int) -> list[int] | None:
    """At least and at most so many; None: that is not said."""
    least = most = 0
    for asked in spec.get("asked") or ():
        first, _, last = str(asked.get("value") or "").partition("-")
        if not first.isdecimal() or not int(first):
            continue
        if asked.get("option") == "nodes":
            least = max(least, int(first))
            most = max(most, int(last) if last.isdecimal() else int(first))
        elif asked.get("option") == "ntasks-per-node":
            least = max(least, -(-tasks // int(first)))
    return [least, max(least, most)] if least else None
