"""A broker that stands by: it answers what the store tells, and passes everything else on to the
one that leads. Where none leads, reads are answered from the store alone and say so; changes wait
for the next leader as long as its coming takes, and are then refused politely."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import metabroker
from metabroker.api.service import Failure, Json, Service, ServiceError, answered
from metabroker.service.queries import (
    ENDED_WORDS,
    Places,
    Queries,
    Row,
    unavailable,
)
from metabroker.store import Store, StoreUnavailable
from metabroker.submission.model import Caller
from metabroker.submission.wire import from_wire, to_wire

from .background import Background
from .places import LeaderPlaces, StandbyListing, places
from .rpc_client import RpcClient

PATIENCE = 2.0  # seconds for what only the broker that leads knows
_GRACE = 10.0  # seconds that a change waits for a leader, after the last one's lease has run out
_LOOK = 0.5  # seconds between two looks for jobs that have ended


class CurrentService:
    """Hands every call on to `service`, which may be replaced at any time."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        """See `metabroker.api.service.Service`."""
        return self.service.call(caller, name, arguments)


class StandbyService:
    """Answers users while another broker leads (`metabroker.api.service.Service`)."""

    def __init__(
        self,
        store: Store,
        client: RpcClient,
        clock: Callable[[], float],
        own: Mapping[str, Any],
        lease: float,
    ) -> None:
        """`own`: what it says of itself in its status; `lease`: for how many seconds one leads."""
        self._store = store
        self._queries = Queries(store, self._asked_places, self._listing, clock)
        self._client = client
        self._places = LeaderPlaces(self._asked_of)
        self._clock = clock
        self._own = own
        self._lease = lease
        self._started = clock()
        self._ends = CompletionWatcher(self._queries)
        self._of_leader = frozenset({"leftovers", "totals", "overview", "names"})
        self._reads: Mapping[str, Callable[..., Json]] = {
            **self._queries.calls(),
            "clusters": lambda: {"clusters": self.clusters()},
            "status": self.status,
            "records": lambda **which: {
                **self._queries.records(**which),
                "partition": own.get("partition"),
            },
        }

    def start(self) -> None:
        """Begin to look for ends of jobs."""
        self._ends.start()

    def stop(self) -> None:
        """Look no more."""
        self._ends.stop()

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        """See `metabroker.api.service.Service`. Raises `SubmissionError` too."""
        if name == "wait":
            return self._wait(**arguments)
        if name in self._of_leader:
            return answered(self._told_by_leader(name, arguments))
        read = self._reads.get(name)
        if read is not None:
            return answered(read(**arguments))
        if "submission" in arguments:
            arguments = {"submission": _sound(arguments["submission"])}
        return self._client.ask(name, caller, arguments, self._lease + _GRACE)

    def _wait(self, job: int) -> Future[Json]:
        """Done with the job's object once it has ended."""
        row = self._queries.row(job)
        future: Future[Json] = Future()
        if row["state"] in ENDED_WORDS:
            future.set_result(self._queries.of_row(row))
        else:
            self._ends.wait(job, future)
        return future

    def clusters(self) -> list[Json]:
        """Each cluster as the broker that leads sees it; else what was last seen of it."""
        found: list[Json] | None = self._asked("clusters")
        if found is not None:
            return found
        now = self._clock()
        rows = self._queries.reading(self._store.cluster_rows)
        return [_last_seen(row, now) for row in rows]

    def status(self) -> Json:
        """This broker, with what the one that leads says of the jobs."""
        own = self.own_status()
        told: Json | None = self._asked("status") if own["store"] == "ok" else None
        if told is None:
            nothing: Json = {
                "jobs": {},
                "jobs_by_queue": [],
                "queues": {},
                "oldest_wait": {},
                "owed_effects": None,
            }
            return {**nothing, **own, "answered": False}
        return {**told, **own, "answered": True}

    def own_status(self) -> Json:
        """What this broker knows by itself."""
        try:
            leader, trouble = self._store.leadership.leader(), "ok"
        except StoreUnavailable as error:
            leader, trouble = None, str(error)
        return {
            **self._own,
            "role": "standby",
            "leader": leader.holder if leader is not None and leader.seconds else None,
            "term": leader.term if leader is not None else 0,
            "version": metabroker.__version__,
            "instance": self._store.instance,
            "uptime_seconds": self._clock() - self._started,
            "store": trouble,
        }

    def _told_by_leader(self, name: str, arguments: Mapping[str, Any]) -> Json:
        found: Json | None = self._asked(name, **arguments)
        if found is None:
            raise unavailable("this broker is a stand-by, and no broker leads now")
        return found

    def _asked_places(self, rows: Sequence[Row]) -> Places:
        waiting = [row["id"] for row in rows if row["state"] == "QUEUED"]
        if not waiting:
            return {}
        return places(waiting, self._asked_of(waiting))

    def _asked_of(self, jobs: Sequence[int]) -> Json | None:
        found: Json | None = self._asked("places", jobs=list(jobs))
        return found

    def _listing(self) -> StandbyListing:
        return StandbyListing(self._places)

    def _asked(self, name: str, **arguments: Any) -> Any:
        """What the broker that leads says; None where it says nothing in time."""
        try:
            return self._client.ask(name, None, arguments, PATIENCE).result(timeout=2 * PATIENCE)
        except TimeoutError:
            return None
        except ServiceError as error:
            if error.failure in (Failure.UNAVAILABLE, Failure.UNDECIDED):
                return None
            raise


class CompletionWatcher(Background):
    """Looks for the ends of those jobs that somebody waits for; once stopped, nobody is told."""

    def __init__(self, reading: Queries) -> None:
        super().__init__("ends")
        self._reading = reading
        self._lock = threading.Lock()
        self._waiters: dict[int, list[Future[Json]]] = {}

    def wait(self, job: int, future: Future[Json]) -> None:
        """Complete it when the job has ended."""
        with self._lock:
            self._waiters.setdefault(job, []).append(future)

    def _run(self) -> None:
        while not self._stopping.wait(_LOOK):
            numbers = self._waited_for()
            if not numbers:
                continue
            try:
                ended = self._reading.ended_among(numbers)
            except ServiceError:
                continue  # the store is away: those who wait go on waiting
            for view in ended:
                self._tell(view)

    def _waited_for(self) -> list[int]:
        """The jobs that somebody waits for yet."""
        with self._lock:
            for job, waiters in list(self._waiters.items()):
                waiters[:] = [waiter for waiter in waiters if not waiter.cancelled()]
                if not waiters:
                    del self._waiters[job]
            return list(self._waiters)

    def _tell(self, view: Json) -> None:
        with self._lock:
            waiters = self._waiters.pop(view["job"], [])
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_result(view)


def _sound(wire: Any) -> Json:
    """A submission that may be passed on: what is not sound gets no further, and it has a request
    id, so that a leader that takes over in the middle of it does not make two jobs.

    Raises:
        SubmissionError: it is not sound.
    """
    submission = from_wire(wire)
    if submission.request_id is None:
        submission = replace(submission, request_id=f"passed-on.{uuid.uuid4().hex}")
    return to_wire(submission)


def _last_seen(row: Mapping[str, Any], now: float) -> Json:
    """A cluster of which only the store tells."""
    unknown = dict.fromkeys(
        ("idle", "available", "avoided", "down", "others", "claimed", "reserved", "components",
         "unanswered", "strays", "waiting", "clock_offset", "commands_per_look")
    )  # fmt: skip
    return {
        "name": row["name"],
        "system": None,
        "version": row["version"],
        "processors": row["processors"],
        **unknown,
        "reachable": None,
        "fresh": False,
        "age_seconds": max(0.0, now - row["seen"]),
        "error": "this broker is a stand-by, and no broker leads now",
    }
