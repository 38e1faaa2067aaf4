"""The calls of a service, as tests ask them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from metabroker.api.calls import CALLS
from metabroker.api.service import NOBODY, Json, Service, read
from metabroker.submission.model import Caller, Submission
from metabroker.submission.wire import from_wire, to_wire


class Asking:
    """Asks a service, as the API does."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def call(self, caller: Caller, name: str, **arguments: Any) -> Future[Json]:
        return self._service.call(caller, name, arguments)

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        return self.call(caller, "submit", submission=to_wire(submission))

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        return self.call(caller, "dry run", submission=to_wire(submission))

    def cancel(self, caller: Caller, job: int) -> Future[Json]:
        return self.call(caller, "cancel", job=job)

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        return self.call(caller, "hold", job=job)

    def release(self, caller: Caller, job: int) -> Future[Json]:
        return self.call(caller, "release", job=job)

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        return self.call(caller, "abandon", job=job)

    def drain(self, caller: Caller, cluster: str, reason: str = "") -> Future[Json]:
        return self.call(caller, "drain", cluster=cluster, reason=reason)

    def resume(self, caller: Caller, cluster: str) -> Future[Json]:
        return self.call(caller, "resume", cluster=cluster)

    def remove_leftovers(self, caller: Caller, names: list[str] | None) -> Json:
        return self.call(caller, "remove leftovers", names=names).result()

    def ended_future(self, job: int) -> Future[Json]:
        return self.call(NOBODY, "wait", job=job)

    def job(self, job: int) -> Json:
        return read(self._service, "job", job=job)

    def active(self, **given: Any) -> list[Json]:
        return list(read(self._service, "queue", **given)["jobs"])

    def ended(self, **given: Any) -> list[Json]:
        return list(read(self._service, "history", **given)["jobs"])

    def clusters(self) -> list[Json]:
        return list(read(self._service, "clusters")["clusters"])

    def status(self) -> Json:
        return read(self._service, "status")

    def leftovers(self) -> Json:
        return read(self._service, "leftovers")

    def totals(self) -> Json:
        return read(self._service, "totals")

    def overview(self) -> Json:
        return read(self._service, "overview")

    def places(self, jobs: list[int] | None) -> Json:
        return read(self._service, "places", jobs=jobs)


def answering(it: Any, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
    """The other way round: a call of the API, by an object with methods like these."""
    method = getattr(
        it,
        {"queue": "active", "history": "ended", "wait": "ended_future"}.get(
            name, name.replace(" ", "_")
        ),
    )
    given = dict(arguments)
    if "submission" in given:
        given["submission"] = from_wire(given["submission"])
    if name == "dry run" or any(call.name == name and call.changes for call in CALLS):
        found = method(caller, *given.values())
    else:
        found = method(**given)
    if isinstance(found, Future):
        return found
    future: Future[Json] = Future()
    future.set_result(
        {"queue": {"jobs": found}, "history": {"jobs": found}, "clusters": {"clusters": found}}.get(
            name, found
        )
    )
    return future
