"""What a poll of a cluster tells: plain data, made by the adapters, read by the core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from metabroker.policy.availability import Booked, Held, Wanted

from .states import Cause
from .tokens import NativeId

_SAME_SUBMISSION = 5.0
"""Seconds. A controller that has lost its state issues ids again, but not so soon. (Until a poll
has shown it, a job's submit time is known only by the broker's clock.)"""


class NativeState(Enum):
    """A native job's state, reduced to what the broker acts on."""

    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"
    UNKNOWN = "unknown"  # a state outside the adapter's table: a value, not a guess


@dataclass(frozen=True, slots=True)
class NativeJob:
    """One of the broker's own jobs as the cluster shows it. Times in Unix seconds."""

    native_id: str
    submit_time: float | None
    state: NativeState
    word: str  # the cluster's own word for the state
    processors: int = 0
    hosts: str | None = None
    reason: str = ""  # why it is pending, in the cluster's words
    start_time: float | None = None
    end_time: float | None = None
    exit_code: int | None = None
    cause: Cause | None = None  # of an ended one: None is a normal end
    suspended: bool = False  # it has started, and its time limit stands still
    stuck: bool = False  # it is pending for a reason that will not pass soon
    position: int | None = None  # in its cluster's own queue, from 1 on; None: not known
    preparing: bool = False  # its nodes are its own, and are woken up, or made ready otherwise

    def is_of(self, native: NativeId | None) -> bool:
        """Whether it is the job that was submitted then, and no later one with its id."""
        if native is None or native.submit_time is None or self.submit_time is None:
            return False
        near = abs(self.submit_time - native.submit_time) <= _SAME_SUBMISSION
        return near and self.native_id == native.id


@dataclass(frozen=True, slots=True)
class NativeReservation:
    """One of the broker's own reservations as the cluster shows it. `degraded`: it has lost nodes
    that it was given."""

    processors: int
    start_time: float | None = None
    end_time: float | None = None
    hosts: str | None = None
    degraded: bool = False


SOON = 60.0
"""Seconds in which no job that is placed now can be over: a reservation of others that begins so
soon is as good as begun. A job may take them to its start, or its cluster round up its limit."""


@dataclass(frozen=True, slots=True)
class Coming:
    """A reservation that has not begun (ours: that does not begin so `SOON`), or is for
    `maintenance`: then it is told until it ends, since nobody's job runs there meanwhile. `start`
    and `end` in Unix seconds, by the cluster's clock; `processors`: those of it in nodes that take
    jobs, less those that one before it takes already; `idle`: how many of them nobody holds."""

    name: str
    start: float
    end: float
    processors: int
    idle: int
    maintenance: bool = False


@dataclass(frozen=True, slots=True)
class NodeKind:
    """So many nodes (`count`) that are alike: processors, memory in MB and GPUs of each (None: not
    known), in use or not. `chunked`: it is each task that is given memory there, not the node."""

    processors: int
    memory: int | None = None
    gpus: int | None = 0
    count: int = 1
    chunked: bool = False


def kinds(nodes: Iterable[NodeKind]) -> tuple[NodeKind, ...]:
    """Nodes that are alike counted together, in an order that is always the same."""
    counted = Counter(nodes)
    return tuple(
        sorted(
            (replace(node, count=node.count * count) for node, count in counted.items()),
            key=lambda node: (node.processors, node.memory or -1, node.gpus or 0),
        )
    )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one poll of one cluster has shown.

    `usable` counts the processors in nodes that take jobs; `busy` those of them that are held by
    anybody (running jobs, reservations that have begun or will soon), ours included; `coming`:
    reservations that begin later, or are for maintenance; `ours`: how many of the busy
    ones each of our tokens holds; `unnamed`, by their ids, the other jobs of the accounts that have
    ours, which may have been renamed. `taken_at` is the broker's clock when the poll began, so that
    what happened since is not judged by it. `system`: what its controller says that it is ("":
    nothing). `waiting`: processors that jobs of others wait for in its queue, as far as those can
    be seen; `arriving`: those that others' jobs want which came a moment ago, and will take now if
    they are idle (see `arrivals`).
    `held`: what its processors are in use for, ours too, until when by the cluster's clock; None:
    not asked this time. `wanted`: with it, what waits in its queue, in that order; `reserved`: what
    others' reservations of `coming` keep, in steps one after the other, by the cluster's clock.
    `nodes`: all that our jobs can go to, those that are down now too (empty: not known); `idle`:
    what is idle of each that takes jobs, `free`: those that are idle as a whole.
    """

    taken_at: float
    processors: int
    usable: int
    busy: int
    ours: Mapping[str, int] = field(default_factory=dict)
    jobs: Mapping[str, NativeJob] = field(default_factory=dict)
    unnamed: Mapping[str, NativeJob] = field(default_factory=dict)
    reservations: Mapping[str, NativeReservation] = field(default_factory=dict)
    coming: Sequence[Coming] = ()
    version: str = ""
    system: str = ""
    settled: bool = True  # False shortly after a controller's restart: absence proves nothing
    commands: int = 0  # how many commands the poll took
    nodes: tuple[NodeKind, ...] = ()
    idle: tuple[NodeKind, ...] = ()
    free: tuple[NodeKind, ...] = ()
    clock_offset: float | None = None  # seconds that the cluster's clock is ahead of the broker's
    clock_awaited: bool = False  # its clock is asked for, and has not been told yet
    waiting: int = 0
    arriving: int = 0
    held: Sequence[Held] | None = None
    wanted: Sequence[Wanted] = ()
    reserved: Sequence[Booked] = ()

    def alike(self, other: Snapshot) -> bool:
        """Whether the same is idle on nodes."""
        return (self.idle, self.free) == (other.idle, other.free)
