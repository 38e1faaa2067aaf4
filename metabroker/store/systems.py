"""Which system each cluster of the configuration was, which are drained, and clusters under other
names: what has not ended goes on under the new ones, in one transaction.

What has ended, and what was written of a job's history, keeps the names of its time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, Engine, case, func, insert, or_, select, union, update

from metabroker.broker.drained import Drained
from metabroker.broker.identities import System
from metabroker.broker.links import Link, pair, read
from metabroker.broker.states import ENDED
from metabroker.submission.inputs import Inputs, parse_input

from . import tables
from .database import Guard, Part
from .leadership import Leadership
from .tables import unfinished

SYSTEMS = "systems"
DRAINED = "drained"
LINKS = "links"
_ENDED = [state.value for state in ENDED]


def told(drained: Mapping[str, Drained] | None) -> dict[str, Any] | None:
    """Drained clusters as the store has them."""
    return None if drained is None else {name: asdict(each) for name, each in drained.items()}


class Systems(Part):
    """Two facts, and what depends on them."""

    def __init__(self, engine: Engine, guard: Guard, leadership: Leadership) -> None:
        super().__init__(engine, guard)
        self._leadership = leadership

    def all(self) -> dict[str, System]:
        """Which system each cluster was when it was last used, by name."""
        return {name: (system, part) for name, (system, part) in self._fact(SYSTEMS).items()}

    def drained(self) -> dict[str, Drained]:
        """The drained clusters, by name, also those that are not configured now."""
        return {name: Drained(**each) for name, each in self._fact(DRAINED).items()}

    def links(self) -> tuple[Link, ...]:
        """What was measured between clusters, also of those that are not configured now."""
        found = self._column(select(tables.facts.c.value).where(tables.facts.c.name == LINKS))
        return read(json.loads(found[0]) if found else [])

    def _fact(self, name: str) -> dict[str, Any]:
        found = self._column(select(tables.facts.c.value).where(tables.facts.c.name == name))
        by_name: dict[str, Any] = json.loads(found[0] if found else "{}")
        return by_name

    def rename(self, names: Mapping[str, str], term: int | None, now: float) -> None:
        """What has not ended in these clusters goes on under new names (by old ones): of the same
        systems. `term`: in whose name is written, where there are several brokers.

        Raises:
            LeadershipLost: another broker leads; nothing was changed.
        """
        renamed: dict[str, Any] = {
            fact: _by_new_names(self._fact(fact), names) for fact in (SYSTEMS, DRAINED)
        }
        renamed[LINKS] = _of_new_names(self.links(), names)
        with self._guard(), self._engine.begin() as connection:
            if term is not None:
                self._leadership.fence(connection, term)
            _rename(connection, names, now)
            for fact, kept in renamed.items():
                of_fact = update(tables.facts).where(tables.facts.c.name == fact)
                connection.execute(of_fact.values(value=json.dumps(kept)))


def _by_new_names(known: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What is known of clusters, of which some are renamed."""
    kept = {name: each for name, each in known.items() if name not in names}
    return kept | {names[name]: each for name, each in known.items() if name in names}


def _of_new_names(links: Iterable[Link], names: Mapping[str, str]) -> list[dict[str, object]]:
    """Links between clusters, of which some are renamed."""
    found = {}
    for link in links:
        one, other = (names.get(name, name) for name in link.clusters)
        if one != other:
            found[pair(one, other)] = replace(link, clusters=pair(one, other)).told()
    return list(found.values())


def _rename(connection: Connection, names: Mapping[str, str], now: float) -> None:
    """`names`: new ones by old ones, which may change places; `now`: in Unix seconds."""
    j, c = tables.jobs.c, tables.components.c
    under_way = or_(*unfinished())
    moved = connection.execute(
        select(c.job, c.attempt, c.component, c.cluster).where(under_way, c.cluster.in_(names))
    ).all()
    # What a task was given with is its array's, which may have ended before what is left of it.
    whose = func.coalesce(j.of, j.id)
    unended = select(whose).where(j.state.not_in(_ENDED))
    left = select(whose).join(tables.components, c.job == j.id)
    left = left.where(under_way, c.cluster.in_(names))
    given = connection.execute(union(unended, left)).scalars().all()
    for column in (j.queue, j.local, j.home):
        changed = case(dict(names), value=column, else_=column)
        of_these = j.state.not_in(_ENDED) & column.in_(names)
        connection.execute(update(tables.jobs).where(of_these).values({column.name: changed}))
    for column in (j.clusters, j.closed):
        listed = select(j.id, column).where(j.state.not_in(_ENDED), column.is_not(None))
        for job, wanted in connection.execute(listed).all():
            new = [names.get(name, name) for name in wanted or ()]
            if new != list(wanted or ()):
                of_job = update(tables.jobs).where(j.id == job)
                connection.execute(of_job.values({column.name: new}))
    _of_inputs(connection, names)
    changed = case(dict(names), value=c.cluster, else_=c.cluster)
    connection.execute(
        update(tables.components).where(under_way, c.cluster.in_(names)).values(cluster=changed)
    )
    for job in given:
        _of_script(connection, job, names)
    told = [
        {
            "time": now,
            "job": row.job,
            "attempt": row.attempt,
            "what": "cluster renamed",
            "detail": {
                "component": row.component,
                "cluster": row.cluster,
                "to": names[row.cluster],
            },
        }
        for row in moved
    ]
    if told:
        connection.execute(insert(tables.events), told)


def _of_inputs(connection: Connection, names: Mapping[str, str]) -> None:
    """Where files of waiting jobs lie."""
    j = tables.jobs.c
    found = select(j.id, j.inputs).where(j.state.not_in(_ENDED), j.inputs.is_not(None))
    for job, told in connection.execute(found).all():
        was = Inputs.read(told)
        now = was.renamed(names)
        if now != was:
            connection.execute(update(tables.jobs).where(j.id == job).values(inputs=now.told()))


def _of_script(connection: Connection, job: int, names: Mapping[str, str]) -> None:
    """Accounts, options of the native command, and which clusters know all options, are kept by
    cluster."""
    c = tables.scripts.c
    spec = connection.execute(select(c.spec).where(c.job == job)).scalar()
    changed: dict[str, Any] = dict(spec or {})
    for key in ("accounts", "native"):
        if key in changed:
            changed[key] = {names.get(name, name): of for name, of in changed[key].items()}
    if "known" in changed:
        changed["known"] = [names.get(name, name) for name in changed["known"]]
    if changed.get("input_at"):
        files = (parse_input(each).renamed(names) for each in changed["input_at"])
        changed["input_at"] = [str(each) for each in files]
    if spec is not None and changed != spec:
        connection.execute(update(tables.scripts).where(c.job == job).values(spec=changed))
