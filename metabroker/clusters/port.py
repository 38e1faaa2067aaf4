"""One cluster as the daemon's workers see it, whatever resource manager it runs.

What is asked may be asked from several threads at once, and is idempotent by token. It ends in
bounded time with its result, with `ClusterRefusal` (the cluster said no and did nothing), or with
`UnknownOutcome` (whether it did anything is not known, or it is not done yet).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from metabroker.broker.observation import NativeJob, Snapshot
from metabroker.broker.states import Cause
from metabroker.broker.tokens import NativeId
from metabroker.submission.shape import ANY_PROCESSORS, Shape
from metabroker.submission.tasks import TaskSet

from .operation import Operation
from .submit_directory import SubmitDirectory
from .transports.base import Transport

OF_OWN_OPTIONS = {
    Cause.BUSY: Cause.OWN,
    Cause.REFUSED: Cause.OWN,
    Cause.DENIED: Cause.INVALID,
}
"""What a refusal means of a job whose user has chosen more than the broker knows: it may concern
that choice alone, and no other job."""


# Seconds by which the clocks of a cluster's controller and of its file server may differ.
_CLOCKS = 5.0


class ClusterRefusal(Exception):
    """The cluster said no, and for certain did not do what was asked."""

    def __init__(self, cause: Cause, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause
        self.detail = detail


class UnknownOutcome(Exception):
    """No answer, a garbled one, or not done yet: look again before doing anything.

    `fenced`: while cleaning, the gate at least was shut before the user's script had started.
    """

    def __init__(self, detail: str, *, fenced: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fenced = fenced


@dataclass(frozen=True, slots=True)
class Node:
    """A host of a component by its own word: its addresses, and how many tasks it has there."""

    name: str
    addresses: tuple[str, ...] = ()
    slots: int | None = None


@dataclass(frozen=True, slots=True)
class Peer:
    """One component of a co-allocated job, for the peers file (contract C4). `nodes` and `port`
    (free on its first host): what it told at its arrival, as far as that is known now; `secret`:
    what the components of its attempt share, and nobody else knows."""

    cluster: str
    processors: int
    hosts: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    port: int | None = None
    secret: str = field(default="", repr=False)


_LASTS_LONGER = 30.0  # seconds for which a reservation is made in addition
_WAITS = 600.0  # seconds for which one that has begun is kept till its job's other parts are free


@dataclass(frozen=True, slots=True)
class ReserveRequest:
    """A reservation of `processors` for `seconds`, named by its token: on such nodes that `tasks`
    of that `shape` fit into it, where that is more than any processors. It begins at `start` (Unix
    seconds, by the cluster's clock; None: now). `move`: it is there, has not begun, and is
    moved to `start`; it ends when it would have, and stays as it was where that is refused. With
    `end` (by the same clock) it is its end alone that is set."""

    token: str
    processors: int
    seconds: int
    tasks: int = 0
    shape: Shape = ANY_PROCESSORS
    start: float | None = None
    move: bool = False
    end: float | None = None

    @property
    def until(self) -> float | None:
        """The end of one that begins at a time."""
        return None if self.start is None else self.start + self.seconds

    def stays(self, began: float, ends: float) -> bool:
        """Whether one that has begun, and ends then (by the cluster's clock), may stay as it is,
        instead of being moved: it lasts as long as is asked for, and is not kept for long for
        nobody."""
        if self.start is None or self.until is None:
            return True
        return self.until - ends <= _LASTS_LONGER and self.start - began <= _WAITS


@dataclass(frozen=True, slots=True)
class ArrayTask:
    """The array that a job is a task of, which, and all that it has."""

    array: int
    task: int
    tasks: TaskSet


@dataclass(frozen=True, slots=True)
class ComponentRequest:
    """A component's job, with all that its script needs.

    `gate` is the directory in which the component and the broker meet (see `clusters.gate`);
    `seconds` its native time limit; `barrier_seconds` how long it waits at the barrier before it
    gives up by itself, or None if it has none. `processors` are for tasks of that `shape`. With
    `works` its script runs in the component's own work folder, where its files are. `speaks`: see
    `submission.model.Submission`; `of`: the array that its job is a task of. `inputs`: where the
    files lie that its job reads, a path of this cluster or CLUSTER:PATH. `joins`: the job that its
    own has joined (0: none).
    """

    token: str
    gate: str
    processors: int
    seconds: int
    job: int
    name: str
    component: int
    peers: tuple[Peer, ...]
    script: bytes
    args: tuple[str, ...]
    environment: Mapping[str, str]
    chdir: str
    output: str
    error: str | None
    native: tuple[str, ...] = ()
    reservation: bool = False
    barrier_seconds: int | None = None
    again: bool = False
    works: bool = False
    shape: Shape = ANY_PROCESSORS
    speaks: str | None = None
    of: ArrayTask | None = None
    inputs: tuple[str, ...] = ()
    joins: int = 0

    @property
    def tasks(self) -> int:
        """How many tasks the processors are for."""
        return self.processors // self.shape.cpus_per_task


@dataclass(frozen=True, slots=True)
class StageRequest:
    """Files of the component's job: `files` are paths in `folder`, where it was submitted, and
    come to lie under the same names in the component's work folder."""

    gate: str
    folder: str
    files: tuple[str, ...]
    again: bool = False


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Results of the component: what `patterns` match in its work folder comes to lie under the
    same names in `into`, below `folder`, where its job was submitted."""

    gate: str
    folder: str
    into: str
    patterns: tuple[str, ...]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Transferred:
    """How much a transfer has moved: files, and their bytes."""

    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Writer:
    """The job that has written down that it started a component's script, by its own word.

    `made`: when the gate was made; `started`: when the script was (Unix seconds, both by the clock
    of the gate's files).
    """

    native_id: str
    made: float
    started: float

    def wrote(self, job: NativeJob) -> bool:
        """Whether this can be it: a later job may have the same id, and a record tell any."""
        if job.native_id != self.native_id or job.submit_time is None:
            return False
        return self.made - _CLOCKS <= job.submit_time <= self.started + _CLOCKS


@dataclass(frozen=True, slots=True)
class CleanRequest:
    """Leave nothing of this token. `gate` is None where the component never had one.

    `reservation`: it may have one; `native`: its job, as far as it is known, which somebody may
    have renamed; `writer`: the job that has started its script, by the script's own record;
    `recorded`: that record tells of its end already; `unless_started`: but do nothing if its script
    may have started.
    """

    token: str
    gate: str | None = None
    reservation: bool = True
    native: NativeId | None = None
    unless_started: bool = False
    writer: Writer | None = None
    recorded: bool = False

    def knows(self, writer: Writer | None) -> bool:
        """Whether its record tells nothing new of which job it is. Another job that has the same
        id now was then submitted at another time, however near that is to the script's start; or
        that id is known to be another job's."""
        native = self.native
        return (
            writer is not None
            and native is not None
            and (native.listed or native.submit_time is None)
            and native.id == writer.native_id
        )

    def only_if(self, fenced: bool) -> None:
        """Raises `ClusterRefusal` if nothing is to be done: the gate was not shut in time."""
        if self.unless_started and not fenced:
            raise ClusterRefusal(Cause.STUCK, "its script may have started")


@dataclass(frozen=True, slots=True)
class NativeSubmission:
    """What a cluster calls the job it was given. `ended`: it was given it before, and that has
    ended."""

    native_id: str
    submit_time: float | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """What was found when the last of a component was removed. `shut`: its gate was shut before
    its script could start. `doubtful`: no record shows
    that the run of which its cluster tells was the script's. `detail`: the cluster's words on
    an end that was not the broker's. `signalled`: it was sent a signal before its script ended."""

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
class ComponentRecord:
    """What a component's own records say. Times in Unix seconds.

    `begun`: its script has started, or is about to; `started`: when, once that is written down;
    `writer`: the job that has started it. `arrival`: its record of that as it stands there, for
    `gate.peers.nodes_of`; `outbox`: the newest version of what it has put out for the others.
    """

    arrived: bool = False
    hosts: tuple[str, ...] = ()
    begun: bool = False
    started: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    signalled: bool = False
    gave_up: bool = False
    writer: Writer | None = None
    arrival: bytes = field(default=b"", compare=False, repr=False)
    outbox: int = 0


class Cluster(Protocol):
    """One cluster. What takes commands is an operation (see `clusters.operation`), carried out
    over `transport` by whoever asks; what only touches gates is done at once."""

    @property
    def transport(self) -> Transport:
        """How the cluster's commands are run."""

    def acting_for(self, account: str) -> Cluster:
        """The same cluster, for jobs of that account: gates and jobs are made, looked at and ended
        as the account, reservations by the broker's own for it.

        Raises:
            UnknownOutcome: the cluster is not configured to act for anybody.
        """

    def observe(self, now: float) -> Operation[Snapshot]:
        """Look at the whole cluster, in a number of commands that does not grow with its jobs."""

    def stage(self, request: StageRequest, home: SubmitDirectory) -> Operation[Transferred]:
        """Send files to the component's work folder, in bounded steps."""

    def fetch(self, request: FetchRequest, home: SubmitDirectory) -> Operation[Transferred]:
        """Bring results back from there, in bounded steps."""

    def reserve(self, request: ReserveRequest) -> Operation[None]:
        """Make the reservation if it is not there, re-read it, and compare."""

    def submit(self, request: ComponentRequest) -> Operation[NativeSubmission]:
        """Lay out the gate and submit; with `again`, look for the token first and adopt."""

    def clean(self, request: CleanRequest) -> Operation[CleanupResult]:
        """Fence the gate, cancel the job, delete the reservation; done when nothing is left.

        The gate's folder stays until `discard`.
        """

    def introduce(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """Write the peers file of the component at this gate, before it is armed."""

    def arm(self, gate: str) -> None:
        """The component at this gate can no longer give up by itself (else `ClusterRefusal`)."""

    def ready(self, gate: str) -> bool:
        """Whether the component at this gate has answered that it is armed."""

    def open(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """Let the component go. `peers`: for a gate that was armed without `introduce`."""

    def discard(self, gate: str, keep: str | None = None) -> None:
        """Remove the gate's folder; `keep`: where its work folder stays, a path in the cluster."""

    def look(self, gates: Iterable[str]) -> dict[str, ComponentRecord]:
        """The components' own records, cheaply. A gate that is not there is left out."""

    def has_more(self, seen: Mapping[str, ComponentRecord]) -> bool:
        """Whether a component has written down more than was `seen`, where a look costs more than
        to tell that; else False."""

    def check_native(self, options: tuple[str, ...]) -> str | None:
        """What is wrong with options meant for this cluster's own submit command, or None."""

    def close(self) -> None:
        """Release connections and helpers."""
