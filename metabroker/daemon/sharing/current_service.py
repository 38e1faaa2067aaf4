"""The service of now: a broker stands by, and then leads, while its sockets stay open."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol

from metabroker.api.service import Json, Service
from metabroker.submission.model import Caller, Submission


class WholeService(Service, Protocol):
    """What the API and the page ask."""

    def totals(self) -> Json:
        """`overview` without its jobs."""


class CurrentService:
    """Hands every call on to `service`, which may be replaced at any time."""

    def __init__(self, service: WholeService) -> None:
        self.service = service

    def submit(self, caller: Caller, submission: Submission) -> Future[Json]:
        """See `Service`, also for all others."""
        return self.service.submit(caller, submission)

    def dry_run(self, caller: Caller, submission: Submission) -> Future[Json]:
        """Where and when it would run."""
        return self.service.dry_run(caller, submission)

    def cancel(self, caller: Caller, job: int) -> Future[Json]:
        """Cancel one job."""
        return self.service.cancel(caller, job)

    def hold(self, caller: Caller, job: int) -> Future[Json]:
        """Hold one waiting job."""
        return self.service.hold(caller, job)

    def release(self, caller: Caller, job: int) -> Future[Json]:
        """Release one held job."""
        return self.service.release(caller, job)

    def abandon(self, caller: Caller, job: int) -> Future[Json]:
        """Write off what is left of one job."""
        return self.service.abandon(caller, job)

    def job(self, job: int) -> Json:
        """One job."""
        return self.service.job(job)

    def active(self, *, user: str | None = None, limit: int | None = None) -> list[Json]:
        """Jobs that have not ended."""
        return self.service.active(user=user, limit=limit)

    def ended(
        self,
        *,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
    ) -> list[Json]:
        """Jobs that have ended."""
        return self.service.ended(user=user, since=since, until=until, limit=limit)

    def ended_future(self, job: int) -> Future[Json]:
        """Done once the job has ended."""
        return self.service.ended_future(job)

    def clusters(self) -> list[Json]:
        """Each cluster."""
        return self.service.clusters()

    def status(self) -> Json:
        """The daemon itself."""
        return self.service.status()

    def leftovers(self) -> Json:
        """What nobody remembers."""
        return self.service.leftovers()

    def remove_leftovers(self, caller: Caller, names: list[str] | None) -> Json:
        """Have it removed."""
        return self.service.remove_leftovers(caller, names)

    def totals(self) -> Json:
        """What a page shows, without jobs."""
        return self.service.totals()

    def overview(self) -> Json:
        """What a page shows."""
        return self.service.overview()
