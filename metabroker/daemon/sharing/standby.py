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
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.service.job_view import job_view
from metabroker.service.queries import ENDED_WORDS, Places, Queries, Row, unavailable
from metabroker.service.reasons import Waiting
from metabroker.store import Store, StoreUnavailable
from metabroker.submission.model import Caller, Submission
from metabroker.submission.wire import to_wire

from .rpc_client import RpcClient

PATIENCE = 2.0  # seconds for what only the broker that leads knows
_GRACE = 10.0  # seconds that a change waits for a leader, after the last one's lease has run out
_LOOK = 0.5  # seconds between two looks for jobs that have ended
_MOST_NAMED = 1000  # waiting jobs asked for by their numbers: of more, all are
_UNTOLD = "this broker stands by, and none leads now: where it waits is not known"


class StandbyService(Queries):
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
        super().__init__(store, self._asked_places)
        self._client = client
        self._clock = clock
        self._own = own
        self._lease = lease
        self._started = clock()
        self._ends = CompletionWatcher(self)

    def start(self) -> None:
        """Begin to look for ends of jobs."""
        self._ends.start()

    def stop(self) -> None:
        """Look no more."""
        self._ends.stop()

    # --- changes ------------------------------------------------------------------------------

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Queue a job, by the broker that leads; see `Service`."""
        if submission.request_id is None:
            # A leader that takes over in the middle of it must not make two jobs of it.
            submission = replace(submission, request_id=f"passed-on.{uuid.uuid4().hex}")
        return self._change("submit", caller, to_wire(submission))

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Where and when it would run now; see `Service`."""
        return self._change("dry run", caller, to_wire(submission))

    def cancel(self, caller: Caller, job: int) -> Future[Json]:
        """Cancel one job."""
        return self._change("cancel", caller, {"job": job})

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        """Hold one waiting job."""
        return self._change("hold", caller, {"job": job})

    def release(self, caller: Caller, job: int) -> Future[Json]:
        """Release one held job."""
        return self._change("release", caller, {"job": job})

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        """Write off what is left of one job."""
        return self._change("abandon", caller, {"job": job})

    def _change(self, kind: str, caller: Caller, body: Any) -> Future[Json]:
        return self._client.ask(kind, caller, body, self._lease + _GRACE)

    # --- reading ------------------------------------------------------------------------------

    def ended_future(self, job: int) -> Future[Json]:
        """Done with the job's object once it has ended."""
        row = self.row(job)
        future: Future[Json] = Future()
        if row["state"] in ENDED_WORDS:
            future.set_result(job_view(row, self._store.instance))
        else:
            self._ends.wait(job, future)
        return future

    def clusters(self) -> list[Json]:
        """Each cluster as the broker that leads sees it; else what was last seen of it."""
        found: list[Json] | None = self._asked("clusters")
        if found is not None:
            return found
        now = self._clock()
        rows = self.reading(self._store.cluster_rows)
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

    def leftovers(self) -> Json:
        """What is there of a time that nobody remembers, as the broker that leads sees it."""
        return self._of_leader("leftovers")

    def remove_leftovers(self, caller: Caller, names: list[str] | None) -> Json:
        """Have it removed, by the broker that leads."""
        asked = self._client.ask("remove leftovers", caller, {"names": names}, self._lease + _GRACE)
        return asked.result()

    def totals(self) -> Json:
        """`overview` without its jobs."""
        return self._of_leader("totals")

    def overview(self) -> Json:
        """All at one moment, as the broker that leads sees it."""
        return self._of_leader("overview")

    def _of_leader(self, kind: str) -> Json:
        found: Json | None = self._asked(kind)
        if found is None:
            raise unavailable("this broker stands by, and none leads now")
        return found

    def _asked_places(self, rows: Sequence[Row]) -> Places:
        waiting = [row["id"] for row in rows if row["state"] == "QUEUED"]
        if not waiting:
            return {}
        named = waiting if len(waiting) <= _MOST_NAMED else None
        found: Json | None = self._asked("places", {"jobs": named})
        if found is None:
            return {number: Waiting(None, _UNTOLD) for number in waiting}
        return {int(number): Waiting(*place) for number, place in found.items()}

    def _asked(self, kind: str, body: Any = None) -> Any:
        """What the broker that leads says; None where it says nothing in time."""
        try:
            return self._client.ask(kind, None, body, PATIENCE).result(timeout=2 * PATIENCE)
        except TimeoutError:
            return None
        except ServiceError as error:
            if error.failure in (Failure.UNAVAILABLE, Failure.UNDECIDED):
                return None
            raise


class CompletionWatcher:
    """Looks for the ends of those jobs that somebody waits for."""

    def __init__(self, reading: Queries) -> None:
        self._reading = reading
        self._lock = threading.Lock()
        self._waiters: dict[int, list[Future[Json]]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ends", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; nobody is told."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

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
        "error": "this broker stands by, and none leads now",
    }
