"""How many things the waiting jobs of each user wait for: what is bounded for each user
(`limits.per_user.dependencies`), since each of them costs memory.

A new job beyond that is refused. A task of an array that waits for tasks of others is not made
while there is no room for it, unless it would be the only one of its array that waits: so each
array goes on, if slowly.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from metabroker.submission.dependency import Dependency

from .job import Job, NewJob
from .rejected import Rejected

LIMIT = "limits.per_user.dependencies"


class Terms:
    """Counts them. `most`: of one user; None: any number."""

    def __init__(self) -> None:
        self.most: int | None = None
        self._of: dict[int, int] = {}  # by jobs
        self._sums: Counter[str] = Counter()  # by users
        self._tasks: Counter[int] = Counter()  # that wait, by their arrays
        self._for_room: set[int] = set()  # arrays
        self._less = False  # than before are waited for

    def limit(self, most: int | None) -> None:
        """Go by this limit from now on; who waits goes on waiting."""
        self.most, self._less = most, True

    def __bool__(self) -> bool:
        return bool(self._of)

    def check(self, new: NewJob) -> None:
        """Raises `Rejected` where a new job is beyond its user's limit."""
        more, have = _terms(new.after), self._sums[new.user]
        if more and self.most is not None and have + more > self.most:
            raise Rejected(
                f"the jobs of user {new.user} wait for {have} others in all, this one for {more} "
                f"more, and at most {self.most} are allowed ({LIMIT})",
                "wait until some have started, or depend on one job that depends on the others",
            )

    def room(self, array: Job) -> bool:
        """Whether one more task of the array may wait for others."""
        more = 0 if array.array is None else _terms(array.array.each)
        if not more or self.most is None or not self._tasks[array.id]:
            return True
        free = self._sums[array.user] + more <= self.most
        if not free:
            self._for_room.add(array.id)
        return free

    def room_again(self) -> set[int]:
        """Arrays that wait for room, if there may be some again since this was asked last."""
        if not self._less:
            return set()
        found, self._for_room, self._less = self._for_room, set(), False
        return found

    def waits(self, job: Job) -> None:
        """What the job waits for now; of an array also what each of its tasks will."""
        own = _terms(job.after)
        self._set(job, own + (0 if job.array is None else _terms(job.array.each)))

    def over(self, job: Job) -> None:
        """It waits for nothing more."""
        self._set(job, 0)

    def _set(self, job: Job, number: int) -> None:
        before = self._of.pop(job.id, 0)
        self._less = self._less or number < before
        if number:
            self._of[job.id] = number
        for counts, key, more in (
            (self._sums, job.user, number - before),
            (self._tasks, job.of, bool(number) - bool(before) if job.of else 0),
        ):
            _count(counts, key, more)


def _count(counts: Counter[Any], key: Any, more: int) -> None:
    counts[key] += more
    if not counts[key]:
        del counts[key]


def _terms(wanted: Dependency | None) -> int:
    return 0 if wanted is None else len(wanted.terms)
