"""The calls of the API (`metabroker.api.calls`), answered by the broker that leads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from metabroker.api.pages import PAGE
from metabroker.api.service import Failure, Json, ServiceError, answered
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.runtime.executor import ClusterExecutor
from metabroker.runtime.loop import Loop
from metabroker.store import Store
from metabroker.submission.model import Caller

from . import orphans_view, reasons
from .authorization import Authorization
from .changes import Changes
from .completions import Completions
from .listing import CoreListing
from .predictions import Predictions
from .queries import Places, Queries, Row
from .status import ALONE, Status

_FEW = 50  # jobs that the core is asked about by themselves
_RECENT = 1.0  # seconds for which a listing is good for other brokers
_Change = Callable[..., Future[Json]]
_Read = Callable[..., Json]


class DaemonService:
    """Answers users. Reads come from the store; what only the core knows is asked of its thread."""

    def __init__(
        self,
        loop: Loop,
        store: Store,
        executors: list[ClusterExecutor],
        rules: Authorization,
        clock: Callable[[], float],
        part: Mapping[str, Any] = ALONE,
        retention: Callable[[], Json | None] = lambda: None,
    ) -> None:
        """`part`: what it says of its part among the brokers of its store; `retention`: how that
        goes on."""
        self._loop = loop
        self._clock = clock
        self.predictions = Predictions(clock)
        self.queries = Queries(store, self._waiting, self._listing, clock)
        self.changes = Changes(loop, self.queries, executors, rules, clock, self.predictions)
        self.status = Status(loop, self.queries, rules, clock, part, retention, self.predictions)
        self.completions = Completions(self.queries)
        self._recent: tuple[float, CoreListing | None] = (0.0, None)
        self._changing: Mapping[str, _Change] = {
            **self.changes.calls(),
            "remove leftovers": self._remove_leftovers,
            "wait": lambda _who, job: self.completions.wait(job),
        }
        self._reading: Mapping[str, _Read] = {
            **self.queries.calls(),
            **self.status.calls(),
            "records": self._records,
            "leftovers": self._leftovers,
            "places": self._places,
        }

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        """See `metabroker.api.service.Service`. Raises `SubmissionError` too."""
        change = self._changing.get(name)
        try:
            if change is not None:
                return change(caller, **arguments)
            return answered(self._reading[name](**arguments))
        except TimeoutError as error:  # it ends, or hangs
            failure = Failure.UNAVAILABLE if change is None else Failure.UNDECIDED
            what = "the broker's core does not answer"
            raise ServiceError(failure, what, "try again later") from error

    def govern(self, rules: Authorization) -> None:
        """Go by these rules from now on."""
        self.changes.rules = self.status.rules = rules

    def close(self) -> None:
        """Nobody asks any more."""
        self.changes.close()

    def written(self, ready: Ready) -> None:
        """Something has become durable. In the core's thread."""
        self.changes.written(ready)
        self.completions.written(ready)
        self.predictions.written(ready, self._loop.engine.broker.view)

    def _records(self, **which: Any) -> Json:
        partition = self.changes.rules.options.partition
        return {**self.queries.records(**which), "partition": partition}

    def _leftovers(self) -> Json:
        return self._loop.ask(lambda: orphans_view.view(self._loop.engine.broker))

    def _remove_leftovers(self, caller: Caller, names: list[str] | None) -> Future[Json]:
        self.changes.available()
        self.changes.rules.admits(caller, "remove leftovers")
        broker = self._loop.engine.broker
        return answered(self._loop.ask(lambda: orphans_view.remove(broker, names)))

    def _places(self, jobs: Sequence[int] | None) -> Json:
        """For another broker: where these jobs wait and why; None (as older brokers ask): all that
        wait."""
        found: Places = {}
        if jobs is not None and len(jobs) <= _FEW:
            found = self._places_of(jobs)
        else:
            listing = self._recent_listing()
            numbers = self._loop.ask(self._numbers) if jobs is None else jobs
            for first in range(0, len(numbers), PAGE):
                found |= listing.of(numbers[first : first + PAGE])
        starts = {str(job): each.start for job, each in found.items() if each.start}
        places = {str(job): [each.position, each.reason] for job, each in found.items()}
        return {**places, "starts": starts}

    def _recent_listing(self) -> CoreListing:
        """Other brokers ask page by page: the core need not tell each time where all jobs stand."""
        now, (at, found) = self._clock(), self._recent
        if found is None or not 0 <= now - at < _RECENT:
            found = self._listing()
            self._recent = now, found
        return found

    def _numbers(self) -> list[int]:
        return list(self._loop.engine.broker.view.jobs)

    def _listing(self) -> CoreListing:
        return CoreListing(self._loop, self._clock, self.predictions.add)

    def _waiting(self, rows: Sequence[Row]) -> Places:
        """Why those of these jobs wait that are in a queue; the core is held up for no others."""
        wanted = [row["id"] for row in rows if row["state"] == JobState.QUEUED.value]
        return self._places_of(wanted) if wanted else {}

    def _places_of(self, wanted: Sequence[int]) -> Places:
        view = self._loop.engine.broker.view
        found = self._loop.ask(lambda: reasons.of(view, self._clock(), wanted))
        return self.predictions.add(found)
