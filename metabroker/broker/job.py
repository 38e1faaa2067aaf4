"""A job and the components of its present attempt, as the core keeps them in memory.

Small on purpose: what only the script's start needs (the script, its arguments, its environment)
stays in the store, so that 100,000 waiting jobs are cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from metabroker.policy import Request, Sizes
from metabroker.submission.chunks import ANY_NODES, NodeRange
from metabroker.submission.dependency import Dependency, Term, When
from metabroker.submission.inputs import NOTHING, Inputs
from metabroker.submission.shape import ANY_PROCESSORS, Shape
from metabroker.submission.tasks import ArraySpec

from .array import Array
from .states import TRANSITIONS, Cause, JobState, Phase, Step
from .tokens import NativeId, Ref


class Goal(Enum):
    """What an attempt that is being ended will make of its job, once nothing of it is left."""

    CANCEL = "cancel"
    TIMEOUT = "timeout"
    FAIL = "fail"  # its outcome decides: a failed submission or a failed run


@dataclass(frozen=True, slots=True)
class Split:
    """That the policy may split a job when it starts: into `parts` components at most, each of
    `component` processors at most (None: of any number). `extra`: the seconds beyond its time limit
    that its attempt may take, since it is split."""

    parts: int
    component: int | None = None
    extra: int = 0


@dataclass(frozen=True, slots=True)
class NewJob:
    """A checked submission, as the core needs it.

    `request` names clusters by index; `local` is the cluster in whose queue a single-component
    job (or, under LS, any job) was put by its user, `home` the one configured for the user.
    `time_limit` is in seconds; `shape`: what each of its tasks needs of a node. `stages_in`: its
    files are sent to its clusters before it is submitted there; `stages_out`: its results are
    brought back. `closed`: clusters that cannot be asked for all that it asks for. `after`: what
    it waits for; `array`: its tasks. `max_latency`: of milliseconds between its clusters. `split`:
    how the policy may split it (None: not at all). `inputs`: what it reads, and where that lies.
    `joins`: the job whose optional component it is (0: none). `nodes`: on how many its user wants
    its tasks.
    """

    user: str
    name: str
    request: Request
    time_limit: int
    local: int | None = None
    home: int | None = None
    hold: bool = False
    shape: Shape = ANY_PROCESSORS
    stages_in: bool = False
    stages_out: bool = False
    closed: frozenset[int] = frozenset()
    after: Dependency | None = None
    array: ArraySpec | None = None
    max_latency: float | None = None
    split: Split | None = None
    inputs: Inputs = NOTHING
    joins: int = 0
    nodes: NodeRange = ANY_NODES

    @property
    def alone(self) -> bool:
        """Whether it will have one component, whatever the policy does."""
        return self.request.single and self.split is None

    @property
    def awaits(self) -> Dependency | None:
        """What it waits for: `after`, and the start of the job that it joins."""
        return started(self.joins, self.after)


def started(joins: int, after: Dependency | None = None) -> Dependency | None:
    """What a job waits for that joins this one (0: none), and waits for `after` too."""
    if not joins:
        return after
    term = Term(When.AFTER, joins)
    if after is None:
        return Dependency((term,))
    return replace(after, terms=tuple(dict.fromkeys((*after.terms, term))))


class ImpossibleTransition(Exception):
    """A step outside the state table: a mistake in the broker, never the user's."""


_ORDER: Mapping[Phase, int] = {phase: rank for rank, phase in enumerate(Phase)}


@dataclass(slots=True, eq=False)
class Component:
    """One component of one attempt: what it claims, how far it is, and which step is pending.

    It counts as `processors` held in its cluster from placement until it is GONE. A *sibling*
    counts as none: it stands in line in its cluster's own queue for a job that is still QUEUED, and
    holds nothing before it is the one that the job starts with (see `saga.line`). One that is
    *ahead* has a reservation for later, or will have: till then its processors are others'.
    """

    ref: Ref
    cluster: int
    processors: int
    reserves: bool  # held by a reservation; else its job itself is the claim (placeholder)
    seq: int = 0  # its job's place in the order of joining, when it was placed
    phase: Phase = Phase.PLACED
    step: Step = Step.NONE
    tries: int = 0
    retry_at: float | None = None
    reservation: bool = False
    started: bool = False  # the user's script started
    native_id: str | None = None
    submit_time: float | None = None  # None: it has no job, or its job's id is another's now
    hosts: str = ""
    start_time: float | None = None
    end_time: float | None = None
    exit_code: int | None = None
    cause: Cause | None = None
    detail: str = ""
    missing_since: float | None = None
    suspended: bool = False  # by the last poll that showed it, which began at `seen_at`
    seen_at: float | None = None
    asked_at: float = 0.0  # when its latest step was first asked for
    planned: float | None = None  # its reservation begins then (broker's clock); None: at once
    moving: float | None = None  # to which time its reservation is being moved
    ahead: bool = False  # it claims no processors yet (see `claims`)
    shown: int = 0  # processors that it holds by the last poll; 0: none, or that is not known
    contradicted: int = 0  # polls in a row that speak against its holding anything
    writer: str | None = None  # the job that has started its script, by that one's own word
    listed: bool = False  # its submit time was seen in a listing, by this broker
    named_late: bool = False  # its cleaning was handed out before its native id was known

    def reached(self, phase: Phase) -> bool:
        """Whether it has come at least as far as `phase`."""
        return _ORDER[self.phase] >= _ORDER[phase]

    def advance(self, phase: Phase) -> None:
        """Come as far as `phase`; never goes back."""
        if _ORDER[phase] > _ORDER[self.phase]:
            self.phase = phase

    @property
    def sibling(self) -> bool:
        """Whether it stands in line, or stood there for nothing."""
        return self.processors == 0

    @property
    def doubted(self) -> bool:
        """Whether its claim does not count: see `Claims.doubt`."""
        return self.contradicted > 1

    @property
    def claimed(self) -> int:
        """The processors that count as held by it."""
        return 0 if self.ahead or self.doubted else self.processors

    @property
    def native(self) -> NativeId | None:
        """Its job in its cluster, as far as that is known."""
        if self.native_id is None:
            return None
        return NativeId(self.native_id, self.submit_time, self.listed)

    @property
    def over(self) -> bool:
        """Whether its script, if it ever started, is certainly not running any more."""
        return self.reached(Phase.ENDED)

    @property
    def succeeded(self) -> bool:
        """Whether its script ended with exit code 0."""
        return self.over and self.exit_code == 0 and self.cause is None


@dataclass(slots=True, eq=False)
class Job:
    """One job. Times in Unix seconds, `time_limit` in seconds, clusters and queues by index."""

    id: int
    user: str
    name: str
    request: Request
    time_limit: int
    submit_time: float
    queue: int
    local: int | None = None  # the local queue its user chose
    home: int | None = None
    state: JobState = JobState.QUEUED
    reason: str = ""
    seq: int = 0  # its place in the order of joining a queue; new at each joining
    queued_at: float = 0.0
    attempt: int = 0
    siblings: int = 0  # that were begun in this attempt, in line; 0: it is none of those
    submission_failures: int = 0
    completion_failures: int = 0
    start_time: float | None = None
    end_time: float | None = None
    exit_code: int | None = None
    deadline: float | None = None
    goal: Goal | None = None
    by: str = ""  # who asked for the goal
    shape: Shape = ANY_PROCESSORS
    stages_in: bool = False
    stages_out: bool = False
    closed: frozenset[int] = frozenset()  # clusters that cannot be asked for all that it asks for
    closed_to_come: tuple[str, ...] = ()  # the same, of clusters that are not configured now
    excluded: frozenset[int] = frozenset()  # clusters that will never accept it, closed or not
    uncertain: str | None = None
    """The backup (its time, in words) in which the present attempt stood when the store came back
    from it: nobody knows how far the attempt has come since. None: that is known."""
    after: Dependency | None = None  # what it waits for, before it joins a queue
    never: str = ""  # what of that can never be met
    array: Array | None = None  # its tasks, if it has such
    of: int = 0  # the array that it is a task of, and which
    task: int = -1
    max_latency: float | None = None  # milliseconds between its clusters, at most
    split: Split | None = None  # how the policy may split it, and has; None: not at all
    inputs: Inputs = NOTHING
    joins: int = 0  # the job whose optional component it is (see `joining`)
    nodes: NodeRange = ANY_NODES
    kept: bool = False  # a task that was held: enough others of its array are under way
    in_vain: int = 0  # times that it was begun, and nobody could go on; as this broker has seen it
    full: dict[int, float] = field(default_factory=dict)
    """When clusters that had less than they seemed to last cost it a try; likewise."""
    components: list[Component] = field(default_factory=list)
    line: list[Component] = field(default_factory=list)
    """While it is QUEUED: its siblings in clusters' own queues, in the order of joining those."""

    @property
    def single(self) -> bool:
        """Whether it has one component: no reservation and no barrier."""
        return len(self.request.sizes) == 1

    @property
    def alone(self) -> bool:
        """Whether it will have one component in its next attempt, too, whatever the policy does."""
        return self.single and self.split is None

    @property
    def may_take(self) -> int:
        """For how long its present attempt may run, in seconds."""
        return self.time_limit + (0 if self.split is None else self.split.extra)

    def divide(self, sizes: Sizes, extra: int) -> None:
        """The policy has split it for its next attempt."""
        assert self.split is not None
        self.request = Request(sizes)
        self.split = replace(self.split, extra=extra)

    def unite(self) -> None:
        """It may be split otherwise, or not at all, the next time."""
        if self.split is not None:
            self.request = Request((self.request.total,))
            self.split = replace(self.split, extra=0)

    @property
    def planned(self) -> float | None:
        """When its attempt is to start, if that was put off to a later time (see `saga.plans`)."""
        moments = [c.planned for c in self.components if c.planned is not None]
        return max(moments, default=None)

    def moves_to(self, component: Component) -> float:
        """To which time a component's reservation is being moved. (After a restart that is known
        only if another one has been moved there.)"""
        if component.moving is not None:
            return component.moving
        return min(c.planned for c in self.components if c.planned is not None)

    @property
    def irreversible(self) -> bool:
        """Whether the user's script may have started somewhere in the present attempt."""
        if self.uncertain is not None:
            return True
        if self.single:
            return any(
                c.step not in (Step.NONE, Step.STAGE) or c.phase is not Phase.PLACED
                for c in self.components
            )
        return self.state is JobState.RUNNING

    def lets_run(self, component: Component) -> bool:
        """Whether the component is to be cleaned up only unless its script has started: it would
        stay pending for long, or its submission was refused, or not answered in time, and an
        earlier try of that may have got through, or its answer comes late."""
        if component.cause is Cause.STUCK:
            return True
        tried = self.single and self.goal is Goal.FAIL
        return tried and component in self.components and not (component.started or component.over)

    def leave_attempt(self) -> None:
        """Be in no attempt; what clusters still hold of the present one is kept apart."""
        self.components = []
        self.line = []
        self.goal = None
        self.deadline = None
        self.uncertain = None

    def move(self, state: JobState) -> None:
        """Go to `state`.

        Raises:
            ImpossibleTransition: the state table has no such step.
        """
        if state not in TRANSITIONS[self.state]:
            raise ImpossibleTransition(f"job {self.id}: {self.state.value} -> {state.value}")
        self.state = state
