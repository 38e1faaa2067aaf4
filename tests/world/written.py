"""What a world's store has of jobs, with all that it keeps: past what listings of jobs read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from metabroker.store import Store, tables


def rows_with_all_attempts(store: Store) -> list[dict[str, Any]]:
    """All jobs' rows, each with its `components` of all attempts (rows too), in their order."""
    rows = store.jobs.rows()
    of_jobs: dict[int, list[dict[str, Any]]] = {row["id"]: [] for row in rows}
    c = tables.components.c
    ordered = select(tables.components).order_by(c.job, c.attempt, c.component)
    with store._engine.connect() as connection:
        for part in connection.execute(ordered).mappings():
            of_jobs.get(part["job"], []).append(dict(part))
    return [{**row, "components": of_jobs[row["id"]]} for row in rows]
