"""The book of one broker's queue, and the start times that follow from it.

It is told of every job: `submitted`, `started`, `ended`, or `left` without a start. `predict` is
asked of a job that waits after its instant's pass. All moments in seconds, never decreasing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice

from metabroker.policy import Request

from .asked import Asked
from .conformal import (
    LEAST,
    NOTHING,
    Achieved,
    Calibration,
    Estimate,
    Expected,
    expectation,
)
from .forward import Ahead, expected_waits
from .past import Past, What
from .run_times import RunTimes

MOST_AHEAD = 200
"""Jobs that wait before another one; behind more of them nothing is told."""
_LAST = 200  # waits of which the coverage is told
_KINDS = 1_000

Kind = tuple[int, int, bool]
"""Jobs that are judged by each other: the queue, the class of size, and whether anything could be
expected."""


@dataclass(slots=True)
class _Waiting:
    asked: Asked
    since: float
    kind: Kind | None = None
    expected: Expected = NOTHING
    first: Estimate | None = None
    """What was told first, as waits."""
    late: bool = False
    """It has waited for longer than that."""


@dataclass(frozen=True, slots=True)
class Question:
    """When does the last job of a queue start? It is of the book as it was at `now`, and shares
    nothing with it: another thread can work it out while the book goes on. `key`: the job's, None:
    it would come now."""

    key: int | None
    asked: Asked
    now: float
    processors: Sequence[int]
    running: Sequence[Ahead]
    queue: Sequence[Ahead]

    def expected(self) -> Expected:
        """The answer. With thousands of running jobs it takes a second."""
        if not self.processors:
            return NOTHING
        return expectation(expected_waits(self.processors, self.running, self.queue))


@dataclass(frozen=True, slots=True)
class _Running:
    asked: Asked
    request: Request
    since: float


class StartTimes:
    """See the module's text. `processors`: of each cluster, those that the jobs can have."""

    def __init__(self, processors: Sequence[int]) -> None:
        self.processors: list[int] = []
        self.resize(processors)
        self._run_times = RunTimes()
        self._waiting: dict[int, _Waiting] = {}
        self._running: dict[int, _Running] = {}
        self._all: dict[bool, Calibration] = {True: Calibration(), False: Calibration()}
        self._kinds: dict[Kind, Calibration] = {}
        self._waits: deque[float] = deque(maxlen=_LAST)
        self._told: deque[tuple[bool, float]] = deque(maxlen=_LAST)
        self._due: list[tuple[float, int]] = []
        self._scored: tuple[float, dict[Kind | bool, list[float]]] = (-1.0, {})
        """When it was last looked how far those that wait are, and what was found."""

    # What happens.

    def resize(self, processors: Sequence[int]) -> None:
        """So many processors of each cluster can the jobs have from now on."""
        self.processors = [max(1, number) for number in processors]

    def clear(self) -> None:
        """Forget the jobs that wait and run; what was learned stays."""
        self._waiting.clear()
        self._running.clear()
        self._due.clear()

    def submitted(self, key: int, asked: Asked, now: float) -> None:
        """A job waits from now on."""
        self._waiting[key] = _Waiting(asked, now)

    def started(self, key: int, clusters: Sequence[int], sizes: Sequence[int], now: float) -> None:
        """A waiting job starts, on `sizes[i]` processors of `clusters[i]`; none: nobody knows."""
        job = self._waiting.pop(key, None)
        if job is None:
            return
        request = Request(tuple(sizes), tuple(clusters)) if clusters else job.asked.request
        self._running[key] = _Running(job.asked, request, now)
        if job.kind is None:
            return
        wait = max(0.0, now - job.since)
        self._waits.append(wait)
        for calibration in self._of(job.kind):
            calibration.learn(job.expected.score(wait))
        if job.first is not None:
            early, late = wait < job.first.earliest, wait > job.first.latest
            self._told.append((not early and not late, job.first.latest - job.first.earliest))
            if not job.late:
                for calibration in self._of(job.kind):
                    calibration.follow(early, late)

    def ended(self, key: int, now: float) -> None:
        """A job that ran has ended."""
        job = self._running.pop(key, None)
        if job is not None:
            self._run_times.ended(job.asked, now - job.since)

    def left(self, key: int) -> None:
        """A job does not wait any more, and has not started."""
        self._waiting.pop(key, None)

    def happens(self, what: What, job: Past, now: float) -> None:
        """An event of a job that has run."""
        if what is What.SUBMISSION:
            self.submitted(job.key, job.asked, now)
        elif what is What.START:
            self.started(job.key, job.clusters, job.sizes, now)
        elif what is not What.LOOK:
            self.ended(job.key, now)

    def waits(self, key: int) -> bool:
        """Whether a job is known to wait."""
        return key in self._waiting

    def runs(self, key: int) -> bool:
        """Whether a job is known to run."""
        return key in self._running

    def expects(self, key: int) -> bool:
        """Whether `predict` was asked of a waiting job, and something was expected."""
        job = self._waiting.get(key)
        return job is not None and job.kind is not None

    # What is told.

    def predict(self, key: int, now: float) -> Estimate | None:
        """When a waiting job starts, None: not known. To be asked when its wait begins, or when no
        more than `MOST_AHEAD` jobs wait before it, and again only as long as it is not known; its
        wait is counted from then on."""
        question = self.ask(key, now)
        return None if question is None else self.settle(question, question.expected())

    def preview(self, asked: Asked, now: float) -> Estimate | None:
        """When a job would start that was submitted now and had to wait."""
        question = self.ask(asked, now)
        return None if question is None else self.settle(question, question.expected())

    def ask(self, who: int | Asked, now: float) -> Question | None:
        """The first half of `predict`, or of `preview`: what is to be worked out, None: too many
        wait before it, or it does not wait."""
        key = who if isinstance(who, int) else None
        if key is not None:
            self._overdue(now)
        before = self._before(key)
        if before is None:
            return None
        asked = self._waiting[who].asked if isinstance(who, int) else who
        return self._question(key, asked, before, now)

    def settle(self, question: Question, expected: Expected) -> Estimate | None:
        """The second half: `expected` is what was worked out. None also where the job has left
        meanwhile."""
        now = question.now
        kind = _kind(question, expected is not NOTHING)
        if question.key is None:
            found = self._interval(kind, expected, now)
            return None if found is None else found.after(now)
        job = self._waiting.get(question.key)
        if job is None:
            return None
        job.since, job.expected, job.kind = now, expected, kind
        job.first = self._interval(kind, expected, now)
        if job.first is None:
            return None
        heappush(self._due, (now + job.first.latest, question.key))
        return job.first.after(now)

    def now(self, key: int, now: float) -> Estimate | None:
        """When a waiting job starts, by what was told first and by how long it has waited."""
        job = self._waiting.get(key)
        if job is None or job.kind is None or job.first is None:
            return None
        waited = max(0.0, now - job.since)
        if waited <= job.first.earliest:
            return job.first.after(job.since)
        judge, still = self._judge(job.kind, now)
        found = judge.later(job.expected, waited, self._longest(now), still)
        return None if found is None else found.after(job.since)

    def achieved(self) -> Achieved:
        """How good the last intervals were."""
        told = len(self._told)
        if not told:
            return Achieved()
        width = sum(width for _, width in self._told) / told
        return Achieved(told, sum(kept for kept, _ in self._told), width)

    # How.

    def _before(self, key: int | None) -> list[tuple[int, _Waiting]] | None:
        """Who waits before a job (None: before one that came now); None: too many."""
        found = list(islice(self._waiting.items(), MOST_AHEAD + 1))
        if key is not None:
            place = next((place for place, (other, _) in enumerate(found) if other == key), None)
            return None if place is None else found[:place]
        return None if len(found) > MOST_AHEAD else found

    def _question(
        self, key: int | None, asked: Asked, before: Iterable[tuple[int, _Waiting]], now: float
    ) -> Question:
        possible = self._run_times.possible
        running = []
        for number, job in self._running.items():
            gone = now - job.since
            left = max(1.0, job.asked.limit - gone)
            running.append(Ahead(number, job.request, left, possible(job.asked, gone)))
        waiting = [(number, job.asked) for number, job in before]
        queue = [
            Ahead(number, each.request, each.limit, possible(each, 0.0))
            for number, each in (*waiting, (-1 if key is None else key, asked))
        ]
        return Question(key, asked, now, tuple(self.processors), running, queue)

    def _of(self, kind: Kind) -> tuple[Calibration, Calibration]:
        """Those who learn of a job of a kind."""
        own = self._kinds.get(kind)
        if own is None:
            if len(self._kinds) >= _KINDS:
                del self._kinds[next(iter(self._kinds))]
            own = self._kinds[kind] = Calibration()
        return own, self._all[kind[2]]

    def _judge(self, kind: Kind, now: float) -> tuple[Calibration, list[float]]:
        """Who knows enough of a kind, itself, else all jobs; and the scores by now of those that
        wait."""
        own, others = self._of(kind)
        scores = self._still(now)
        if len(own) >= LEAST:
            return own, scores.get(kind, [])
        return others, scores.get(kind[2], [])

    def _still(self, now: float) -> dict[Kind | bool, list[float]]:
        if self._scored[0] != now:
            found: dict[Kind | bool, list[float]] = {}
            for job in islice(self._waiting.values(), 2 * MOST_AHEAD):
                if job.kind is not None:
                    score = job.expected.score(now - job.since)
                    found.setdefault(job.kind, []).append(score)
                    found.setdefault(job.kind[2], []).append(score)
            for scores in found.values():
                scores.sort()
            self._scored = (now, found)
        return self._scored[1]

    def _interval(self, kind: Kind, expected: Expected, now: float) -> Estimate | None:
        judge, still = self._judge(kind, now)
        return judge.interval(expected, self._longest(now), still)

    def _longest(self, now: float) -> float:
        oldest = next(iter(self._waiting.values()), None)
        return max(0.0 if oldest is None else now - oldest.since, max(self._waits, default=0.0))

    def _overdue(self, now: float) -> None:
        """Jobs that have waited for longer than was told need not start to be counted so."""
        while self._due and self._due[0][0] < now:
            _, key = heappop(self._due)
            job = self._waiting.get(key)
            if job is not None and job.kind is not None and not job.late:
                job.late = True
                for calibration in self._of(job.kind):
                    calibration.follow(False, True)


def _kind(question: Question, expected: bool) -> Kind:
    asked = question.asked
    part = asked.request.total / max(1, sum(question.processors))
    return asked.queue, 0 if part <= 1 / 16 else 1 if part <= 1 / 4 else 2, expected
