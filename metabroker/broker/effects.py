"""What the broker wants done. A driver carries effects out and answers with events.

`Stage`, `Reserve`, `Submit`, `Arm`, `Open`, `Clean`, `Fetch` and `Discard` are pending steps: the
component's row in the store says so before they are carried out, and a driver must always answer
them (with `Unsure` if it cannot tell). For one component they are carried out one at a time, in
the order in which they were made.
`again` says that the same step may have been carried out before: look first, then act.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.submission.shape import ANY_PROCESSORS, Shape

from .tokens import NativeId, Ref


@dataclass(frozen=True, slots=True)
class Stage:
    """Send the component's files to its cluster, before it is asked for anything (DCS 3.5)."""

    ref: Ref
    cluster: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Reserve:
    """Make the component's reservation, re-read it and compare. `tasks`, `shape`: what is to fit
    into it, where that is more than any processors. `start`: when it begins, in Unix seconds by
    the cluster's clock (None: now). `move`: it is there, and is moved to `start` if that can be."""

    ref: Ref
    cluster: int
    processors: int
    seconds: int
    again: bool = False
    tasks: int = 0
    shape: Shape = ANY_PROCESSORS
    start: float | None = None
    move: bool = False


@dataclass(frozen=True, slots=True)
class Submit:
    """Lay out the component's gate and submit its job (into its reservation, if it has one).

    With `barrier` the job waits for the gate to be opened; else it starts as soon as it runs. With
    `sibling` too, and for a short time only: it stands in line (see `saga.line`).
    `processors`: those that were asked for, for tasks of that `shape`. `joins`: the job
    that its own joins (0: none).
    """

    ref: Ref
    cluster: int
    processors: int
    seconds: int
    reservation: bool
    barrier: bool
    again: bool = False
    sibling: bool = False
    shape: Shape = ANY_PROCESSORS
    joins: int = 0


@dataclass(frozen=True, slots=True)
class Arm:
    """Make sure that the component, which waits at the barrier, does not give up by itself."""

    ref: Ref
    cluster: int


@dataclass(frozen=True, slots=True)
class Open:
    """Write the peers file and open the gate. `until`: then its reservation is to end (Unix
    seconds, by the cluster's clock); None: when it would have."""

    ref: Ref
    cluster: int
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Clean:
    """Fence the gate, cancel the job, delete the reservation; answer when all of it is gone.

    The gate itself stays, with the component's record, until what it says is durable. With
    `unless_started` nothing is done, and that is the answer, if the script may have started.
    """

    ref: Ref
    cluster: int
    reservation: bool = True
    native: NativeId | None = None
    unless_started: bool = False


@dataclass(frozen=True, slots=True)
class Fetch:
    """Bring the results of a component that is gone back to where its job was submitted."""

    ref: Ref
    cluster: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Discard:
    """Remove the gate of a component that is gone: what its record says has been written down.

    With `keep` its results could not be brought back: they are put beside it, in the job's folder
    in that cluster.
    """

    ref: Ref
    cluster: int
    keep: bool = False


@dataclass(frozen=True, slots=True)
class CleanStray:
    """A cluster shows something of ours that nobody needs: remove it. No step is pending for
    it; if it fails, the next poll shows it again. `spare_gate`: but not its gate, where there are
    results in it that are still to be brought back."""

    cluster: int
    token: str
    spare_gate: bool = False


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """A cluster shows something of ours that no backup tells of: it is named, and left alone."""

    cluster: int
    token: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Read the component's own records from now on. `joins`: the job that its own joins (0:
    none)."""

    ref: Ref
    cluster: int
    joins: int = 0


@dataclass(frozen=True, slots=True)
class Unwatch:
    """The component's own records need not be read any more."""

    ref: Ref
    cluster: int


PendingEffect = Stage | Reserve | Submit | Arm | Open | Clean | Fetch | Discard
Effect = PendingEffect | CleanStray | Unclaimed | Watch | Unwatch
