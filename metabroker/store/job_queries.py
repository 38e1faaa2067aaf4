"""Jobs as the store holds them: scripts, accounts, rows and events. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from metabroker.broker.states import ENDED

from . import tables
from .database import Part, as_dicts
from .tables import LIVE_WORDS, not_gone

# Read at every step of an attempt: built once.
_s, _ITS_SCRIPT = tables.scripts.c, tables.scripts.c.job == bindparam("job")
_SCRIPT = select(_s.script, _s.spec, _s.secret).where(_ITS_SCRIPT)
_MEETING_PLACE = select(_s.spec["chdir"].as_string(), _s.secret).where(_ITS_SCRIPT)
_ACCOUNTS = select(_s.spec["accounts"].label("accounts")).where(_ITS_SCRIPT)
_OWNER = select(tables.jobs.c.user).where(tables.jobs.c.id == bindparam("job"))
_ATTEMPT = (
    select(tables.components, tables.jobs.c.sizes)
    .join(tables.jobs, tables.jobs.c.id == tables.components.c.job)
    .where(
        tables.components.c.job == bindparam("job"),
        tables.components.c.attempt == bindparam("attempt"),
    )
    .order_by(tables.components.c.component)
)


class JobQueries(Part):
    """What is asked of the jobs. From any thread."""

    def find_request(self, user: str, request_id: str) -> int | None:
        """The job that this user's request has become, if it has."""
        c = tables.scripts.c
        found = self._column(select(c.job).where(c.user == user, c.request_id == request_id))
        return found[0] if found else None

    def script(self, job: int) -> tuple[bytes, dict[str, Any], str]:
        """A job's script, its spec, and the secret of its components' folders.

        Raises:
            KeyError: no such job.
        """
        row = self._of(job, _SCRIPT)
        return row.script, row.spec, row.secret

    def meeting_place(self, job: int) -> tuple[str, str]:
        """The job's folder, and the secret of its components' folders.

        Raises:
            KeyError: no such job.
        """
        row = self._of(job, _MEETING_PLACE)
        return row[0], row[1]

    def account(self, job: int, cluster: str) -> str | None:
        """The account that the job's components in a cluster run under; None: the broker's own.

        Raises:
            KeyError: no such job.
        """
        account: str | None = (self._of(job, _ACCOUNTS).accounts or {}).get(cluster)
        return account

    def owner(self, job: int) -> str:
        """The user who submitted it.

        Raises:
            KeyError: no such job.
        """
        user: str = self._of(job, _OWNER).user
        return user

    def _of(self, job: int, query: Select[Any]) -> Any:
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(query, {"job": job}).first()
        if row is None:
            raise KeyError(job)
        return row

    def live_accounts(self, cluster: str) -> set[str]:
        """The accounts, other than the broker's own, of components that are not gone yet."""
        s, c = tables.scripts.c, tables.components.c
        live = select(c.job).where(not_gone(), c.cluster == cluster)
        query = select(s.spec["accounts"][cluster].as_string()).where(s.job.in_(live)).distinct()
        return {account for account in self._column(query) if account}

    def all_accounts(self, cluster: str) -> set[str]:
        """The accounts, other than the broker's own, of all jobs that ever could be put there."""
        given = select(tables.scripts.c.spec["accounts"][cluster].as_string()).distinct()
        return {account for account in self._column(given) if account}

    def attempt(self, job: int, attempt: int) -> list[dict[str, Any]]:
        """The components' rows of one attempt, in order; `asked`: the processors of its request,
        where it may hold more."""
        rows = self._rows(_ATTEMPT, job=job, attempt=attempt)
        for row in rows:
            row["asked"] = row.pop("sizes")[row["component"]]
        return rows

    def live(self, *, user: str | None = None, limit: int | None = None) -> list[int]:
        """The numbers of the jobs that have not ended, in their order; with `limit`, the first."""
        c = tables.jobs.c
        query = select(c.id).where(c.state.in_(LIVE_WORDS)).order_by(c.id)
        if user is not None:
            query = query.where(c.user == user)
        return self._column(query if limit is None else query.limit(limit))

    def rows(
        self,
        *,
        ids: Sequence[int] | None = None,
        ended: bool | None = None,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Jobs' rows, each with its `components` of all attempts (rows too), in order of id.

        With `limit`, the first of those waiting or running, or the latest of those ended.
        """
        c = tables.jobs.c
        query: Select[Any] = select(tables.jobs)
        if ids is not None:
            query = query.where(c.id.in_(ids))
        if ended is not None:
            words = [state.value for state in ENDED]
            query = query.where(c.state.in_(words) if ended else c.state.not_in(words))
        if user is not None:
            query = query.where(c.user == user)
        if since is not None:
            query = query.where(c.end_time >= since)
        if until is not None:
            query = query.where(c.end_time < until)
        query = query.order_by(c.end_time.desc(), c.id.desc()) if ended else query.order_by(c.id)
        if limit is not None:
            query = query.limit(limit)
        with self._guard(), self._engine.connect() as connection:
            rows = as_dicts(connection.execute(query))
            if ended:
                rows.reverse()
            self._add_components(connection, rows)
        return rows

    def _add_components(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        by_id = {row["id"]: row for row in rows}
        for row in rows:
            row["components"] = []
        c = tables.components.c
        attempted = [row["id"] for row in rows if row["attempt"]]
        for some in _chunks(attempted, 500):
            query = select(tables.components).where(c.job.in_(some))
            ordered = query.order_by(c.job, c.attempt, c.component)
            for part in connection.execute(ordered).mappings():
                by_id[part["job"]]["components"].append(dict(part))

    def events(self, job: int) -> list[dict[str, Any]]:
        """A job's events, oldest first."""
        c = tables.events.c
        query = select(c.time, c.attempt, c.what, c.detail).where(c.job == job).order_by(c.id)
        return self._rows(query)


def _chunks(values: Sequence[int], size: int) -> Iterable[Sequence[int]]:
    return (values[start : start + size] for start in range(0, len(values), size))
