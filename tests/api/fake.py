"""A small daemon in memory: the `Service` of the tests of the API and of the command line.

Jobs wait until the test says otherwise; nothing is scheduled. It keeps to contract C2's objects.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metabroker.api.server import ApiServer
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.submission.model import Caller, Submission
from tests.api import shapes
from tests.api.asking import answering

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT")


class FakeService:
    """Keeps jobs in a dictionary; one lock, no threads."""

    def __init__(self, largest: int = 144) -> None:
        self.largest = largest
        self.admins: set[str] = set()
        self.lost: list[Json] = []  # leftovers
        self.callers: list[Caller] = []
        self.submissions: dict[int, Submission] = {}
        self._jobs: dict[int, Json] = {}
        self._requests: dict[tuple[int, str], int] = {}
        self._waiting: dict[int, list[Future[Json]]] = {}
        self._lock = threading.RLock()

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        return answering(self, caller, name, arguments)

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        with self._lock:
            self.callers.append(caller)
            key = (caller.uid, submission.request_id or "")
            if submission.request_id and key in self._requests:
                return _done(self.job(self._requests[key]))
            asked = self._sizes(submission)
            if max(asked) > self.largest:
                return _failed(
                    Failure.INVALID,
                    f"no cluster has {max(asked)} processors",
                    f"the largest has {self.largest}",
                )
            number = len(self._jobs) + 1
            self._requests[key] = number
            self.submissions[number] = submission
            self._jobs[number] = self._new(number, caller, submission, asked)
            return _done(self.job(number))

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        parts = [
            {"index": i, "cluster": "delft", "processors": n}
            for i, n in enumerate(self._sizes(submission))
        ]
        return _done(
            {
                "dry_run": True,
                "starts_now": True,
                "queue": "global",
                "position": 1,
                "components": parts,
                "earliest_start": None,
                "expected_start": None,
                "reason": "processors are idle",
            }
        )

    def cancel(self, caller: Caller, job: int) -> Future[Json]:
        return self._change(caller, job, "CANCELLED")

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        return self._change(caller, job, "HELD")

    def release(self, caller: Caller, job: int) -> Future[Json]:
        return self._change(caller, job, "QUEUED")

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        return self._change(caller, job, "FAILED")

    def job(self, job: int) -> Json:
        with self._lock:
            if job not in self._jobs:
                raise ServiceError(
                    Failure.NOT_FOUND, f"there is no job {job}", "`metabroker queue` lists the jobs"
                )
            return dict(self._jobs[job])

    def active(self, *, user: str | None = None, limit: int | None = None) -> list[Json]:
        return self._select(False, user)[:limit]

    def ended(
        self,
        *,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
        state: Sequence[str] = (),
        limit: int | None = None,
        page: int = 1,
        after: object = None,
    ) -> list[Json]:
        jobs = [
            job
            for job in self._select(True, user)
            if (since or 0) <= job["end_time"] <= (until or 1e12)
            and (not state or job["state"] in state)
        ]
        return jobs if limit is None else jobs[-limit:]

    def ended_future(self, job: int) -> Future[Json]:
        with self._lock:
            state = self.job(job)
            if state["state"] in ENDED:
                return _done(state)
            future: Future[Json] = Future()
            self._waiting.setdefault(job, []).append(future)
            return future

    def clusters(self) -> list[Json]:
        return [
            shapes.cluster("delft", version="1", others=0, down=0, claimed=4),
            shapes.cluster(
                "leiden",
                processors=64,
                idle=None,
                reachable=False,
                fresh=False,
                error="no answer",
                age_seconds=300.0,
            ),
        ]

    def status(self) -> Json:
        return {"version": "0.1.0", "instance": "abc123", "policy": "LP-GF", "uptime": 10.0}

    def leftovers(self) -> Json:
        return {"restored": None, "leftovers": list(self.lost)}

    def drain(self, caller: Caller, cluster: str, reason: str) -> Json:
        return shapes.cluster(cluster, drained={"by": caller.user, "since": 0.0, "reason": reason})

    def resume(self, caller: Caller, cluster: str) -> Json:
        return shapes.cluster(cluster)

    def remove_leftovers(self, caller: Caller, names: list[str] | None) -> Json:
        if caller.user not in self.admins:
            raise ServiceError(Failure.FORBIDDEN, f"{caller.user} may not remove leftovers")
        chosen = [left for left in self.lost if names is None or left["name"] in names]
        for left in chosen:
            left["removing"] = True
        return {"leftovers": chosen}

    def overview(self) -> Json:
        return {
            "time": time.time(),
            "status": self.status(),
            "clusters": self.clusters(),
            "reservations": [],
            "jobs": self.active(),
        }

    def end(self, job: int, state: str = "COMPLETED", exit_code: int | None = 0) -> None:
        """What the tests use: the job ends."""
        with self._lock:
            now = time.time()
            for part in self._jobs[job]["components"]:
                part.update(state=state, start_time=now - 60, end_time=now, exit_code=exit_code)
            self._jobs[job].update(
                state=state, start_time=now - 60, end_time=now, exit_code=exit_code, reason=""
            )
            for future in self._waiting.pop(job, []):
                if future.set_running_or_notify_cancel():
                    future.set_result(self.job(job))

    def waiting(self, job: int) -> int:
        """How many wait for the job who have not gone."""
        with self._lock:
            return sum(not future.cancelled() for future in self._waiting.get(job, []))

    def _change(self, caller: Caller, job: int, state: str) -> Future[Json]:
        with self._lock:
            self.callers.append(caller)
            try:
                now = self.job(job)
            except ServiceError as error:
                return _raised(error)
            if caller.uid and now["uid"] != caller.uid:
                return _failed(Failure.FORBIDDEN, f"job {job} is {now['user']}'s", "ask its owner")
            if now["state"] in ENDED:
                return _failed(Failure.CONFLICT, f"job {job} has ended", "submit it again")
            if state in ("CANCELLED", "FAILED"):
                self.end(job, state, None)
            else:
                self._jobs[job]["state"] = state
            return _done(self.job(job))

    def _select(self, ended: bool, user: str | None) -> list[Json]:
        with self._lock:
            return [
                dict(job)
                for job in self._jobs.values()
                if (job["state"] in ENDED) == ended and user in (None, job["user"])
            ]

    @staticmethod
    def _sizes(submission: Submission) -> list[int]:
        request = submission.processors
        if request.components is not None:
            return list(request.components)
        if request.on is not None:
            return [count for _, count in request.on]
        return [request.single or request.total or 0]

    @staticmethod
    def _new(number: int, caller: Caller, submission: Submission, sizes: list[int]) -> Json:
        now = time.time()
        return shapes.job(
            number,
            "HELD" if submission.hold else "QUEUED",
            *(shapes.part(n, "QUEUED", cluster=None, processors=p) for n, p in enumerate(sizes)),
            name=submission.name or submission.script_name,
            user=caller.user,
            uid=caller.uid,
            reason="waits for processors",
            position=number,
            time_limit=submission.time_limit or 3600,
            submit_time=now,
            events=[{"time": now, "attempt": 0, "event": "submitted", "user": caller.user}],
        )


def _done(result: Json) -> Future[Json]:
    future: Future[Json] = Future()
    future.set_result(result)
    return future


def _failed(failure: Failure, message: str, advice: str) -> Future[Json]:
    return _raised(ServiceError(failure, message, advice))


def _raised(error: ServiceError) -> Future[Json]:
    future: Future[Json] = Future()
    future.set_exception(error)
    return future


@contextmanager
def serving(service: FakeService, path: Path, **given: Any) -> Iterator[ApiServer]:
    """It is served at a socket."""
    server = ApiServer(service, path, **given)
    server.start()
    try:
        yield server
    finally:
        server.stop()
