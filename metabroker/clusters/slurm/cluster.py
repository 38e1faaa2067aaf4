"""A Slurm cluster: the operations over a transport, and its gates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from metabroker.broker.observation import Snapshot
from metabroker.broker.states import Cause
from metabroker.clusters.gate import Gates, wrapper
from metabroker.clusters.operation import Operation
from metabroker.clusters.port import (
    CleanOrder,
    ComponentOrder,
    Doubt,
    Marks,
    Peer,
    Refusal,
    Remains,
    ReserveOrder,
    Submission,
)
from metabroker.clusters.transports.base import CommandLost, CommandMissing, Transport

from . import operations
from .native import check_native
from .operations import Account
from .parsing import Garbled, NodeLine
from .snapshot import in_partition, snapshot

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class SlurmOptions:
    """What the configuration says of a Slurm cluster. `horizon`: see `snapshot`, in seconds."""

    name: str
    instance: str
    user: str
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    horizon: float = 3600.0


class SlurmCluster:
    """One Slurm cluster (see `metabroker.clusters.port.Cluster`)."""

    def __init__(self, options: SlurmOptions, transport: Transport) -> None:
        self._options = options
        self._transport = transport
        self._who = Account(options.user, options.partition, options.account, options.qos)
        self._prefix = f"mb-{options.instance}-"
        self._gates = Gates(transport.files)
        self._version = ""
        self._nodes: Sequence[NodeLine] = ()

    @property
    def transport(self) -> Transport:
        """How commands are run."""
        return self._transport

    def observe(self, now: float) -> Operation[Snapshot]:
        """Look at nodes, reservations, and our own jobs."""
        found = yield from _answered(operations.look(self._who, now, self._prefix, self._version))
        nodes = in_partition(found.nodes, self._who.partition)
        if not nodes:
            which = self._who.partition or "a default one"
            raise Refusal(Cause.INVALID, f"no node is in the partition ({which})")
        self._nodes, self._version = nodes, found.version
        return snapshot(found, self._who.partition, self._prefix, self._options.horizon)

    def reserve(self, order: ReserveOrder) -> Operation[None]:
        """Make the reservation, read it again, compare."""
        yield from _answered(operations.reserve(self._who, order, self._nodes, self._version))

    def submit(self, order: ComponentOrder) -> Operation[Submission]:
        """Lay out the gate, submit the wrapper."""
        self._gates.prepare(order)
        script = wrapper(order, self._options.name)
        return (yield from _answered(operations.submit(self._who, order, script)))

    def clean(self, order: CleanOrder) -> Operation[Remains]:
        """Fence, cancel, delete; the record stays until `discard`."""
        fenced = self._gates.shut(order)
        try:
            cause = yield from _answered(
                operations.clean(self._who, order.token, reservation=order.reservation)
            )
        except Refusal as refusal:
            raise Doubt(refusal.detail, fenced=fenced) from refusal
        except Doubt as doubt:
            raise Doubt(doubt.detail, fenced=fenced) from doubt
        return self._gates.remains(order.gate, cause)

    def introduce(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """The component is told who the others are."""
        self._gates.introduce(gate, peers)

    def arm(self, gate: str) -> None:
        """The component can no longer give up."""
        self._gates.arm(gate)

    def ready(self, gate: str) -> bool:
        """Whether the component has answered."""
        return self._gates.ready(gate)

    def open(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """Let the component go."""
        self._gates.open(gate, peers)

    def discard(self, gate: str) -> None:
        """Remove the gate's folder."""
        self._gates.remove(gate)

    def look(self, gates: Iterable[str]) -> dict[str, Marks]:
        """The components' own records."""
        return self._gates.look(gates)

    def check_native(self, options: tuple[str, ...]) -> str | None:
        """What is wrong with a user's own options for sbatch."""
        return check_native(options)

    def close(self) -> None:
        """Let go of the transport."""
        self._transport.close()


def _answered(operation: Operation[R]) -> Operation[R]:
    """The operation, with what can go wrong with a command in the port's words."""
    try:
        return (yield from operation)
    except CommandLost as lost:
        raise Doubt(str(lost)) from lost
    except CommandMissing as missing:
        raise Refusal(
            Cause.UNREACHABLE, f"{missing}; set `bin` or PATH in `env` of this cluster"
        ) from missing
    except Garbled as garbled:
        raise Doubt(str(garbled)) from garbled
