"""The daemon, its clusters and its queues at one moment: what `status` and the page show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from time import thread_time
from typing import Any

import metabroker
from metabroker.api.service import Json
from metabroker.runtime.loop import Loop

from . import orphans_view, overview
from .authorization import Authorization
from .cluster_view import cluster_views
from .predictions import Predictions
from .queries import ENDED_WORDS, Queries
from .seldom import Seldom
from .survey import Survey, survey

ALONE: Mapping[str, Any] = {"role": "leader", "leader": None, "term": 0}
"""What a broker that shares its store with nobody says of its part."""


class Status:
    """What is there now. Answers come from the core's thread."""

    def __init__(
        self,
        loop: Loop,
        queries: Queries,
        rules: Authorization,
        clock: Callable[[], float],
        part: Mapping[str, Any] = ALONE,
        retention: Callable[[], Json | None] = lambda: None,
        predictions: Predictions | None = None,
    ) -> None:
        """`part`: what it says of its part among the brokers of its store; `retention`: how that
        goes on."""
        self._predictions = predictions or Predictions(clock)
        self._retention = retention
        self._loop = loop
        self._queries = queries
        self._clock = clock
        self._part = part
        self._started = clock()
        self._survey = Seldom(self._surveyed)
        self._spent = 0.0  # seconds of the core's thread
        self._seen = Seldom(self._look, spent=lambda: self._spent)
        self.rules = rules

    def calls(self) -> Mapping[str, Callable[..., Json]]:
        """The calls of the API that are answered here."""
        return {
            "clusters": lambda: {"clusters": self.clusters()},
            "names": self.names,
            "status": self.daemon,
            "totals": self.totals,
            "overview": self.overview,
        }

    def links(self) -> list[Json]:
        """What was measured between the clusters that there are."""
        broker = self._loop.engine.broker
        names = {entry.name for entry in broker.settings.clusters}
        return [link.told() for link in broker.view.links.all if names.issuperset(link.clusters)]

    def clusters(self) -> list[Json]:
        """Each cluster with its processors, health and the age of what is known of it. Where very
        much is under way there, as of two seconds ago at most."""
        return self._seen()

    def _look(self) -> list[Json]:
        """It costs the core what is under way, and anybody may ask all the time."""

        def look() -> list[Json]:
            began = thread_time()
            found = cluster_views(self._loop.engine.broker.view, self._clock())
            self._spent += thread_time() - began
            return found

        return self._loop.ask(look)

    def names(self, user: str | None) -> Json:
        """What scripts may call partitions, and the accounts of a user (by default all; None: any
        name will do), and the time limits, in seconds."""
        rules = self.rules
        own = [c for c in rules.clusters if user is None or rules.may_have_jobs(user, c)]
        partitions = rules.options.partitions()
        return {
            "partitions": [{"name": n, "clusters": among} for n, among in partitions.items()],
            "accounts": rules.options.accounts(own),
            "default_time": rules.default_time,
            "max_time": rules.max_time,
        }

    def daemon(self) -> Json:
        """The daemon itself: version, instance, policy, uptime, pending effects, queue lengths, and
        its part among the brokers of its store: `"role"` ("leader" or "standby"), `"leader"` (the
        name of the one that leads; null: none, or no other is possible) and `"term"`."""
        found = self._loop.ask(self._status)
        return {**found, **self._counted(self._survey(), found["queues"])}

    def totals(self) -> Json:
        """`overview` without its jobs: the store is not asked."""
        now, clusters = self._clock(), self.clusters()
        found = self._loop.ask(lambda: self._moment(now, clusters))
        return self._with_counts(found, self._survey())

    def overview(self) -> Json:
        """All at one moment: the daemon, its clusters, and jobs as far as they can be looked at."""
        now, all_jobs, clusters = self._clock(), self._survey(), self.clusters()
        view = self._loop.engine.broker.view
        chosen, found = self._loop.ask(
            lambda: (overview.choose(view, all_jobs, now), self._moment(now, clusters))
        )
        found = self._with_counts(found, all_jobs)
        places = self._predictions.add(chosen.waiting)
        rows = self._queries.rows(chosen.jobs)
        by_number = {row["id"]: row for row in rows if row["state"] not in ENDED_WORDS}
        found["jobs"] = [
            self._queries.view(by_number[number], places)
            for number in chosen.jobs
            if number in by_number
        ]
        return found

    def _moment(self, now: float, clusters: list[Json]) -> Json:
        view = self._loop.engine.broker.view
        return {
            "time": now,
            "status": self._status(),
            "clusters": clusters,
            "reservations": overview.reservations(view),
            "jobs": [],
        }

    def _status(self) -> Json:
        view = self._loop.engine.broker.view
        names = self._loop.engine.names
        return {
            **self._part,
            "version": metabroker.__version__,
            "instance": self._queries.instance,
            "uptime_seconds": self._clock() - self._started,
            "policy": self.rules.policy,
            "offline": self.rules.offline,
            "store": self._loop.trouble or "ok",
            "queues": {
                names.queue(queue) or "global": count
                for queue, count in view.in_queues.waiting().items()
            },
            "owed_effects": view.pending_steps,
            "restored": orphans_view.restored_view(view.history.latest),
            "leftovers": len(view.unclaimed),
            "store_behind": view.behind or None,
            "history": self._retention(),
            "start_times": asdict(self._predictions.achieved()),
        }

    def _surveyed(self) -> Survey:
        view = self._loop.engine.broker.view
        jobs = self._loop.ask(lambda: list(view.jobs.values()))
        return survey(jobs, self._clock())

    def _with_counts(self, found: Json, all_jobs: Survey) -> Json:
        status = found["status"]
        return {**found, "status": {**status, **self._counted(all_jobs, status["queues"])}}

    def _counted(self, found: Survey, queues: Json) -> Json:
        """Jobs by state and queue, and for how long the oldest of each queue waits; 0: none does.
        Of very many jobs as of two seconds ago at most."""
        names, now = self._loop.engine.names, self._clock()
        states: Counter[str] = Counter()
        for (_queue, state), count in found.counts.items():
            states[state] += count
        waits = {names.queue(queue) or "global": now - at for queue, at in found.oldest.items()}
        return {
            "jobs": dict(states),
            "jobs_by_queue": [
                {"queue": names.queue(queue) or "global", "state": state, "jobs": count}
                for (queue, state), count in found.counts.items()
            ],
            "oldest_wait": dict.fromkeys(queues, 0.0) | waits,
        }
