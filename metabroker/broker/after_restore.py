"""A store that came back from a backup: what is known of the time that was lost with it.

After the backup was made jobs have ended, begun and been submitted, and nobody remembers. So what
clusters show of that time is named and left alone (`unknown`). Attempts that stood in the backup
are marked for good (`Job.uncertain`, by `settle`, before any cluster is asked): no step of theirs
is taken by which a script could start that may have run already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .job import Component, Job
from .outbox import OutboxEntry
from .states import IN_ATTEMPT, JobState, Phase, Step
from .tokens import Ref, term_of

# A step that would begin something again that may have begun, and ended, in the lost time.
_FORWARD = frozenset({Step.STAGE, Step.RESERVE, Step.SUBMIT, Step.ARM})


@dataclass(frozen=True, slots=True)
class Restored:
    """One return from a backup. Times in Unix seconds; `when`: that of the backup, in words.

    `term`: nothing of before has it. `last_job`: the highest number that the backup knows,
    `next_job`: the first that was given afterwards. `attempts`: the latest ones of those jobs that
    had not ended; `siblings`: how many each of these had begun, where it stood in line.
    """

    backup_time: float
    time: float
    when: str
    term: int
    last_job: int
    next_job: int
    attempts: Mapping[int, int]
    siblings: Mapping[int, int] = field(default_factory=dict)

    def knows(self, ref: Ref) -> bool:
        """Whether it was begun afterwards, or the backup tells of it."""
        if term_of(ref.term) >= self.term:
            return True
        latest = self.attempts.get(ref.job, ref.attempt)
        if ref.job > self.last_job or ref.attempt > latest:
            return False
        begun = self.siblings.get(ref.job)
        return begun is None or ref.attempt < latest or ref.component < begun

    def may_have_had(self, job: int) -> bool:
        """Whether a job of that number may have been submitted in the lost time."""
        return self.last_job < job < self.next_job


class History:
    """All returns from backups, the oldest first."""

    def __init__(self, restored: Sequence[Restored] = ()) -> None:
        self._all = tuple(restored)

    @property
    def latest(self) -> Restored | None:
        """The last one."""
        return self._all[-1] if self._all else None

    @property
    def next_job(self) -> int:
        """The lowest number that a new job may have."""
        return max((each.next_job for each in self._all), default=1)

    def unknown(self, ref: Ref) -> bool:
        """Whether it was begun in a lost time."""
        return any(not each.knows(ref) for each in self._all)

    def lost(self, job: int) -> Restored | None:
        """The return that may have lost a job of that number."""
        return next((each for each in self._all if each.may_have_had(job)), None)


NEVER = History()
"""Of a store that is what it always was."""


def remembered(jobs: Iterable[Job]) -> dict[int, int]:
    """The `attempts` of a backup's jobs that have not ended."""
    return {job.id: job.attempt for job in jobs}


def in_line(jobs: Iterable[Job]) -> dict[int, int]:
    """The `siblings` of a backup's jobs that have not ended."""
    return {job.id: job.siblings for job in jobs if job.siblings}


def settle(
    jobs: Iterable[Job], components: Iterable[Component], restored: Restored, *, release: bool
) -> tuple[list[Job], list[Component], list[OutboxEntry]]:
    """What becomes of the backup's jobs when it comes back, before any cluster is asked; what of
    it must be written. `release`: those that waited go on waiting, though they may have run."""
    parts: dict[tuple[int, int], list[Component]] = {}
    for component in components:
        parts.setdefault(component.ref[:2], []).append(component)
    changed: list[Job] = []
    touched: list[Component] = []
    for job in jobs:
        of_attempt = parts.get((job.id, job.attempt), [])
        if job.state in IN_ATTEMPT:
            touched += _look_only(job, of_attempt, restored)
        else:
            # One may have been chosen since: none is submitted again.
            siblings = [part for part in of_attempt if part.sibling and part.step in _FORWARD]
            touched += _stop(siblings)
            if release:
                continue
            _hold(job, restored)
        changed.append(job)
    journal = [_entry(job, restored) for job in changed]
    return changed, touched, journal


def _hold(job: Job, restored: Restored) -> None:
    before = f"{job.reason}; " if job.state is JobState.HELD and job.reason else ""
    if job.state is JobState.QUEUED:
        job.move(JobState.HELD)
    job.reason = (
        f"{before}restored from the backup of {restored.when}, and it may have run since: "
        "release or cancel it"
    )


def _look_only(job: Job, parts: Sequence[Component], restored: Restored) -> list[Component]:
    """The attempt takes no step forward any more but that to which it is committed: its own
    records and its clusters tell what has become of it. A time limit is theirs to keep."""
    job.uncertain = restored.when
    job.deadline = None
    if job.state is JobState.RESERVING:
        job.move(JobState.SUBMITTING)
    if job.goal is None and job.state is not JobState.RUNNING:
        job.reason = (
            f"restored from the backup of {restored.when}: the broker looks for it in its clusters"
        )
    return _stop(parts)


def _stop(parts: Sequence[Component]) -> list[Component]:
    """They take no step forward any more."""
    for component in parts:
        if component.step in _FORWARD:
            component.step = Step.NONE
        if component.step is Step.NONE:
            component.advance(Phase.SUBMITTED)
    return list(parts)


def _entry(job: Job, restored: Restored) -> OutboxEntry:
    detail: dict[str, Any] = {"backup": restored.when, "state": job.state.value}
    return OutboxEntry(restored.time, job.id, job.attempt, "restored", detail)
