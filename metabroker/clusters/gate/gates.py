"""The broker's side of the gates, over any transport's files."""

from __future__ import annotations

import errno
import functools
import json
from collections.abc import Callable, Iterable
from enum import Enum
from typing import ParamSpec, TypeVar

from metabroker.broker.states import Cause
from metabroker.clusters.port import (
    CleanOrder,
    ComponentOrder,
    Doubt,
    Marks,
    Peer,
    Refusal,
    Remains,
)
from metabroker.clusters.staging import work_folder
from metabroker.clusters.transports.base import (
    CommandLost,
    CommandMissing,
    Files,
    Glance,
    NotAllowed,
)

P = ParamSpec("P")
R = TypeVar("R")


class Position(Enum):
    """The name of a gate's token file."""

    WAIT = "wait"
    ARMED = "armed"
    GO = "go"
    RUN = "run"
    ABORT = "abort"


ARRIVED = "arrived"
READY = "ready"
STARTED = "started"
ENDED = "ended"
RECORDS = (ARRIVED, READY, STARTED, ENDED)
SCRIPT = "script"
# The token file before its first position. It is renamed into that, never written: what is done
# too late, by a broker that was stopped in the middle of it, finds nothing to rename, and so
# cannot put a second token into a gate that has been passed.
_BORN = ".born"
PEERS = "peers.json"
FOLDER = ".metabroker"
# What a wrong or closed folder leads to; all else may be better soon.
_THEIRS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS})


def gate_path(root: str, token: str, secret: str, account: str | None = None) -> str:
    """The folder of a component's gate: nobody who is not told can guess it. `account`: whose it
    is, where several accounts' gates may lie in one folder, which none of them can share."""
    folder = FOLDER if account is None else f"{FOLDER}-{account}"
    return f"{root.rstrip('/')}/{folder}/{token}-{secret}"


def _doubted(method: Callable[P, R]) -> Callable[P, R]:
    """Where the files are far away: what no answer came to may be done or not, and is asked anew.

    Never a refusal, not even where nothing can have been done: a component is not given up for a
    connection that may be back in a moment.
    """

    @functools.wraps(method)
    def doubted(*args: P.args, **given: P.kwargs) -> R:
        try:
            return method(*args, **given)
        except (CommandLost, CommandMissing) as lost:
            raise Doubt(f"the component's gate: {lost}") from lost

    return doubted


class Gates:
    """All gates of one cluster. Any of these may end in `Doubt`, where its files are far away."""

    def __init__(self, files: Files) -> None:
        self._files = files

    @_doubted
    def prepare(self, order: ComponentOrder) -> None:
        """Make the component's gate with its script, unless it is there already (a submission
        done again).

        Raises:
            Refusal: the job's folder cannot be used, or nobody may act for its user.
        """
        gate = order.gate
        try:
            self._files.make_folder(gate)
            if self._position(gate) is not None:
                return
            if order.works:
                self._files.make_folder(work_folder(gate))
            self._files.write(f"{gate}/{SCRIPT}", order.script, executable=True)
            first = Position.GO if order.barrier_seconds is None else Position.WAIT
            self._files.write(f"{gate}/{_BORN}", b"")
            if not self._files.rename(f"{gate}/{_BORN}", f"{gate}/{first.value}"):
                raise Doubt("the component's gate was laid out by somebody else meanwhile")
        except OSError as error:
            raise _cannot_write(gate, error) from error
        except NotAllowed as denied:
            raise Refusal(Cause.DENIED, str(denied)) from denied

    @_doubted
    def introduce(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """Write down who the components are, before the gate is armed: what is done once the job
        is committed must need no space, or a full disk could hold back one component of all.

        Raises:
            Refusal: it cannot be written.
        """
        if self._position(gate) is None:
            return  # gone: who arms it is told
        try:
            self._files.write(f"{gate}/{PEERS}", _peers_json(peers))
        except OSError as error:
            raise _cannot_write(gate, error) from error

    @_doubted
    def arm(self, gate: str) -> None:
        """`wait -> armed`.

        Raises:
            Refusal: the component has given up, or the gate is gone.
        """
        if self._move(gate, Position.WAIT, Position.ARMED):
            return
        position = self._position(gate)
        if position in (Position.ARMED, Position.GO, Position.RUN):
            return
        raise Refusal(Cause.GAVE_UP, "the component has left the barrier")

    @_doubted
    def ready(self, gate: str) -> bool:
        """Whether the component has seen that its gate is armed: it is alive, and will go."""
        names = {entry.name for entry in self._files.list(gate) or ()}
        return not names.isdisjoint((READY, Position.GO.value, Position.RUN.value))

    @_doubted
    def open(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """`armed -> go`, with the peers file in its place (see `introduce`).

        Raises:
            Refusal: the gate is shut or gone.
        """
        position = self._position(gate)
        if position in (Position.GO, Position.RUN):
            return
        if position is Position.ARMED:
            if self._files.read(f"{gate}/{PEERS}") is None:
                self._files.write(f"{gate}/{PEERS}", _peers_json(peers))
            if self._move(gate, Position.ARMED, Position.GO):
                return
        raise Refusal(Cause.LOST, "the component's gate is shut")

    @_doubted
    def shut(self, order: CleanOrder) -> bool:
        """Shut the component's gate for good. False: too late, the script has started."""
        if order.gate is None:
            return True
        for position in (Position.WAIT, Position.ARMED, Position.GO):
            if self._move(order.gate, position, Position.ABORT):
                return True
        if self._files.rename(f"{order.gate}/{_BORN}", f"{order.gate}/{Position.ABORT.value}"):
            return True
        return self._position(order.gate) is not Position.RUN

    @_doubted
    def look(self, gates: Iterable[str]) -> dict[str, Marks]:
        """What the components have written down so far; gates that are gone are left out."""
        found = {}
        wanted = list(gates)
        seen = self._files.glance(wanted, RECORDS)
        for gate in wanted:
            marks = _marks(seen, gate)
            if marks is not None:
                found[gate] = marks
        return found

    @_doubted
    def remains(self, gate: str | None, cause: Cause | None) -> Remains:
        """The component's last record; `cause` is its cluster's word on how it ended."""
        marks = None if gate is None else _marks(self._files.glance([gate], RECORDS), gate)
        own = marks is not None and marks.exit_code is not None and not marks.signalled
        if cause is Cause.EXIT:
            # A job that failed: its script ended by itself, or both were killed before it could.
            cause = None if own else Cause.KILLED
        if marks is None:
            return Remains(cause=cause)
        return Remains(
            marks.started is not None,
            marks.started,
            marks.ended,
            marks.exit_code,
            cause,
            shut=marks.gave_up,
        )

    @_doubted
    def keep(self, gate: str, folder: str) -> None:
        """Put the component's work folder where it stays, unless that is done."""
        try:
            self._files.rename(work_folder(gate), folder)
        except OSError as error:
            raise Doubt(f"its results cannot be put into {folder}: {error.strerror}") from error

    @_doubted
    def remove(self, gate: str) -> None:
        """Remove the gate: it is shut for ever."""
        self._files.remove_tree(gate)

    def _position(self, gate: str) -> Position | None:
        entries = self._files.list(gate)
        names = {entry.name for entry in entries or ()}
        return next((p for p in Position if p.value in names), None)

    def _move(self, gate: str, old: Position, new: Position) -> bool:
        return self._files.rename(f"{gate}/{old.value}", f"{gate}/{new.value}")


def _marks(seen: Glance, gate: str) -> Marks | None:
    entries = seen.list(gate)
    if entries is None:
        return None
    times = {entry.name: entry.modified for entry in entries}
    if times.keys().isdisjoint((ARRIVED, READY, STARTED, ENDED, Position.ABORT.value)):
        # The start of a script between its two steps: the token file tells it already.
        return Marks(started=times.get(Position.RUN.value))
    arrived = ARRIVED in times or READY in times
    hosts = _hosts(seen, gate) if arrived or STARTED in times else ()
    exit_code, signalled = _end(seen, gate) if ENDED in times else (None, False)
    ran = Position.RUN.value in times
    return Marks(
        arrived=arrived,
        hosts=hosts,
        started=times.get(STARTED, times[Position.RUN.value]) if ran else None,
        ended=times[ENDED] if exit_code is not None else None,
        exit_code=exit_code,
        signalled=signalled,
        gave_up=Position.ABORT.value in times,
    )


def _hosts(seen: Glance, gate: str) -> tuple[str, ...]:
    for name in (ARRIVED, READY, STARTED):
        content = seen.read(f"{gate}/{name}")
        if content:
            return tuple(content.decode("utf-8", "replace").split())
    return ()


def _end(seen: Glance, gate: str) -> tuple[int | None, bool]:
    """Exit code and whether it was signalled; (None, False) of a record not yet whole."""
    content = seen.read(f"{gate}/{ENDED}") or b""
    words = content.decode("ascii", "replace").split()
    if not content.endswith(b"\n") or not words or not words[0].isdigit():
        return None, False
    return int(words[0]), "signalled" in words[1:]


def _cannot_write(gate: str, error: OSError) -> Refusal:
    """The refusal that says so. The folder's own name is a secret: it is not told."""
    theirs = error.errno in _THEIRS
    return Refusal(
        Cause.INVALID if theirs else Cause.REFUSED,
        f"cannot write in {gate.rsplit('/', 2)[0]}: {error.strerror}",
    )


def _peers_json(peers: tuple[Peer, ...]) -> bytes:
    document = {
        "components": [
            {
                "component": index,
                "cluster": peer.cluster,
                "processors": peer.processors,
                "hosts": list(peer.hosts),
            }
            for index, peer in enumerate(peers)
        ]
    }
    return json.dumps(document, indent=1).encode() + b"\n"
