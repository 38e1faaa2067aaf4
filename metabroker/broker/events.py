"""What can happen to the broker. Every event is plain data; times come beside it, from the driver.

Replies name the component they speak of by its `Ref`, attempt number included: a late answer of
attempt 1 is never counted for attempt 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from metabroker.submission.dependency import Named
from metabroker.submission.tasks import TaskSet

from .job import Job, NewJob
from .links import Link
from .observation import Snapshot
from .states import Cause, JobState, Step
from .tokens import Ref


class Outcome(NamedTuple):
    """How a job has ended, and when (Unix seconds) it started, or ended without that. `array`: it
    had tasks."""

    state: JobState
    began: float
    array: bool = False

    @classmethod
    def of(cls, job: Job) -> Outcome:
        """Of a job that has ended."""
        return cls(job.state, job.start_time or job.end_time or 0.0, job.array is not None)


# --- what users ask ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubmitJob:
    """A checked submission; the job gets the next number. `ended`: what has become of those that
    it depends on and that have ended, as the store has it."""

    job: NewJob
    ended: Mapping[Named, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CancelJob:
    """End the job, whatever it is doing; of an array, these tasks alone, if some are given."""

    job: int
    by: str
    tasks: TaskSet | None = None


@dataclass(frozen=True, slots=True)
class HoldJob:
    """Take the job out of its queue; an attempt that has not been committed is undone. Of an array,
    all tasks that have not started."""

    job: int
    by: str


@dataclass(frozen=True, slots=True)
class ReleaseJob:
    """Put a held job back, at its queue's tail."""

    job: int
    by: str


@dataclass(frozen=True, slots=True)
class ChangeJob:
    """Other limits for a job that waits: seconds that it may take; of an array, how many tasks are
    under way at once (0: any number). None: as it is."""

    job: int
    by: str
    time_limit: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class AbandonJob:
    """An administrator writes off what cannot be brought to an end: its processors count as held no
    more, and the job waits for it no longer."""

    job: int
    by: str


@dataclass(frozen=True, slots=True)
class DrainCluster:
    """An administrator wants nothing new to go to the cluster; what runs there finishes."""

    cluster: int
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TellLinks:
    """An administrator has measured links between clusters."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ResumeCluster:
    """An administrator ends the cluster's drain."""

    cluster: int
    by: str


# --- what clusters answer ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Staged:
    """The component's files are in its cluster: so many, of so many bytes."""

    ref: Ref
    files: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Reserved:
    """The reservation exists and holds what was asked (it was re-read)."""

    ref: Ref
    start_time: float | None = None
    end_time: float | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """The cluster has the component's job."""

    ref: Ref
    native_id: str
    submit_time: float | None = None


@dataclass(frozen=True, slots=True)
class Armed:
    """The component waits at the barrier and can no longer give up by itself."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Opened:
    """The component may start the user's script."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The cluster holds no job and no reservation of this component, and it can never start.

    `started` tells whether the user's script had started; times and exit code are its own
    record, if it left one; `cause` is the cluster's word on why it ended, if that was not by
    itself. `shut`: its gate was shut before its script could start, so that nothing the cluster
    says of its end is the script's. `doubtful`: the same holds, as it left no record of its end,
    and none of a start in this run: it was killed as it took its gate, or its cluster started it
    again, which runs no script. `detail`: the cluster's words on an end that the broker has not
    brought about. `signalled`: as in `Ended`.
    """

    ref: Ref
    started: bool = False
    start_time: float | None = None
    end_time: float | None = None
    exit_code: int | None = None
    cause: Cause | None = None
    shut: bool = False
    doubtful: bool = False
    detail: str = ""
    signalled: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """The component's results are back: so many files, of so many bytes, in that folder."""

    ref: Ref
    files: int = 0
    size: int = 0
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Discarded:
    """The component's gate is gone too."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Refused:
    """The cluster said no to a step, and for certain did not carry it out."""

    ref: Ref
    step: Step
    cause: Cause
    detail: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """A step's outcome is not known (no reply, a cut connection), or it is not done yet.

    Of a `Clean`, `fenced` says that the gate at least is shut: the user's script has not started
    and never will, whatever the cluster still holds.
    """

    ref: Ref
    step: Step
    detail: str
    fenced: bool = False


# --- what the components' own records tell ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arrived:
    """The component reached the barrier. `begun`: it has left it too, since its script has started,
    or is about to."""

    ref: Ref
    hosts: str = ""
    begun: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """The component's script has started, in the job `native_id`, as that says (None: nothing)."""

    ref: Ref
    time: float
    hosts: str = ""
    native_id: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The component's script is over.

    `signalled`: it was sent a signal from outside before it ended, so why it ended (its time
    limit, a cancellation) is its cluster's to say.
    """

    ref: Ref
    time: float
    exit_code: int
    signalled: bool = False


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The component left the barrier at its own deadline; its script never started."""

    ref: Ref


# --- what is seen of clusters, and time -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Observed:
    """A poll of a cluster succeeded."""

    cluster: int
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class ClusterUnreachable:
    """A poll of a cluster failed: nothing is known of it from now on."""

    cluster: int
    detail: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: deadlines and retries that are due are acted on."""


Asked = (
    SubmitJob
    | CancelJob
    | HoldJob
    | ReleaseJob
    | ChangeJob
    | AbandonJob
    | DrainCluster
    | ResumeCluster
    | TellLinks
)
"""What users and administrators ask: it may be rejected."""

Event = (
    SubmitJob
    | CancelJob
    | HoldJob
    | ReleaseJob
    | ChangeJob
    | AbandonJob
    | DrainCluster
    | ResumeCluster
    | TellLinks
    | Staged
    | Reserved
    | Submitted
    | Armed
    | Opened
    | Cleaned
    | Fetched
    | Discarded
    | Refused
    | Unsure
    | Arrived
    | Started
    | Ended
    | GaveUp
    | Observed
    | ClusterUnreachable
    | Tick
)
