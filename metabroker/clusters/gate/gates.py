"""The broker's side of the gates, over any transport's files."""

from __future__ import annotations

import contextlib
import errno
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

from metabroker.broker.states import Cause
from metabroker.clusters.file_transfer import work_folder
from metabroker.clusters.port import (
    CleanRequest,
    CleanupResult,
    ClusterRefusal,
    ComponentRecord,
    ComponentRequest,
    Peer,
    UnknownOutcome,
)
from metabroker.clusters.transports.base import (
    CommandLost,
    CommandMissing,
    Files,
    NotAllowed,
)
from metabroker.clusters.transports.trust import Unsafe, split

from . import records
from .peers import PEERS, peers_file
from .positions import Position, Spoilt, known

P = ParamSpec("P")
R = TypeVar("R")


SCRIPT = "script"
# The token file before its first position. It is renamed into that, never written: what is done
# too late, by a broker that was stopped in the middle of it, finds nothing to rename, and so
# cannot put a second token into a gate that has been passed.
_BORN = ".born"
_AT_ONCE = 200  # gates that one command reads: a shell takes the longer for each, the more
_REMOVALS = 3
# Seconds by which a controller's clock may be ahead of its file server's.
_SKEW = 2.0
# What a wrong or closed folder leads to; all else may be better soon.
_THEIRS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS})
# Open files and memory, of which the broker itself has too little for a moment.
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def doubted(method: Callable[P, R]) -> Callable[P, R]:
    """Where the files are far away: what no answer came to may be done or not, and is asked again.

    Never a refusal, not even where nothing can have been done: a component is not given up for a
    connection that may be back in a moment.
    """

    @functools.wraps(method)
    def doubted(*args: P.args, **given: P.kwargs) -> R:
        try:
            return method(*args, **given)
        except (CommandLost, CommandMissing) as lost:
            raise UnknownOutcome(f"the component's gate: {lost}") from lost
        except OSError as error:
            raise UnknownOutcome(f"the component's gate: {error.strerror or error}") from error

    return doubted


class Gates:
    """All gates of one cluster. Where its files are far away, any of these may end in
    `UnknownOutcome`."""

    def __init__(self, files: Files) -> None:
        self._files = files

    @doubted
    def prepare(self, request: ComponentRequest) -> bool:
        """Make the component's gate with its script, unless it is there already (a submission
        done again); whether that is done again, and nothing was left of it.

        Raises:
            ClusterRefusal: the job's folder cannot be used, or nobody may act for its user.
        """
        gate = request.gate
        try:
            gone = request.again and self._files.list(gate) is None
            new = self._files.make_folder(gate)
            if not new and self._is_made(gate, request.again):
                return False
            if request.works:
                self._files.make_folder(work_folder(gate))
            self._files.write(f"{gate}/{SCRIPT}", request.script, executable=True)
            first = Position.GO if request.barrier_seconds is None else Position.WAIT
            self._files.write(f"{gate}/{_BORN}", b"")
            if not self._files.rename(f"{gate}/{_BORN}", f"{gate}/{first.value}"):
                raise UnknownOutcome("somebody else created the component's gate meanwhile")
            return gone
        except Unsafe as unsafe:
            raise ClusterRefusal(Cause.INVALID, str(unsafe.strerror)) from unsafe
        except OSError as error:
            raise _cannot_write(gate, error) from error
        except NotAllowed as denied:
            raise ClusterRefusal(Cause.DENIED, str(denied)) from denied

    @doubted
    def introduce(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """Write down who the components are, before the gate is armed: what is done once the job
        is committed must need no space, or a full disk could hold back one component of all.

        Raises:
            ClusterRefusal: it cannot be written.
        """
        if not self._shows(gate, Position.WAIT.value) and self._position(gate) is None:
            return  # gone: who arms it is told
        try:
            self._files.write(f"{gate}/{PEERS}", peers_file(peers))
        except OSError as error:
            raise _cannot_write(gate, error) from error

    @doubted
    def arm(self, gate: str) -> None:
        """`wait -> armed`.

        Raises:
            ClusterRefusal: the component has given up, or the gate is gone.
        """
        if self._move(gate, Position.WAIT, Position.ARMED):
            return
        position = self._position(gate)
        if position in (Position.ARMED, Position.GO, Position.RUN):
            return
        raise ClusterRefusal(Cause.GAVE_UP, "the component has left the barrier")

    @doubted
    def ready(self, gate: str) -> bool:
        """Whether the component has seen that its gate is armed: it is alive, and will go."""
        signs = (records.READY, Position.GO.value, Position.RUN.value)
        shown = self._shows(gate, *signs)
        if shown is None:
            shown = not (self._names(gate) or set()).isdisjoint(signs)
        return shown

    @doubted
    def open(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """`armed -> go`, with the peers file in its place (see `introduce`); of the only component
        `wait -> go`: if it has given up, nothing else of its job has started. The job is committed:
        what cannot be done now is tried again, whatever the reason.

        Raises:
            ClusterRefusal: the gate is shut or gone.
        """
        first = Position.WAIT if len(peers) == 1 else Position.ARMED
        with contextlib.suppress(Unsafe):
            if self._shows(gate, PEERS) and self._rename(gate, first, Position.GO):
                return
            for _ in range(2):  # over NFS a rename whose answer is lost may be told to have failed
                names = {known(entry.name) for entry in self._files.list(gate) or ()}
                if not names.isdisjoint((Position.GO.value, Position.RUN.value)):
                    return
                if first.value in names:
                    if PEERS not in names:
                        self._files.write(f"{gate}/{PEERS}", peers_file(peers))
                    if self._rename(gate, first, Position.GO):
                        return
        raise ClusterRefusal(Cause.LOST, "the component's gate is shut")

    @doubted
    def shut(self, request: CleanRequest) -> bool:
        """Shut the component's gate for good. False: too late, the script has started, or that is
        not known."""
        if request.gate is None:
            return True
        # In the order in which the token file moves on, so that it is not missed. One that is not
        # in a position yet may be another's, of a broker that was stopped: both are shut.
        with Spoilt():
            self._files.rename(f"{request.gate}/{_BORN}", f"{request.gate}/{Position.ABORT.value}")
        for position in (Position.WAIT, Position.ARMED, Position.GO):
            if self._move(request.gate, position, Position.ABORT):
                return True
        return self._is_shut(request.gate)

    @doubted
    def look(self, gates: Iterable[str]) -> dict[str, ComponentRecord]:
        """What the components have written down so far; gates that are gone are left out, and so
        are those that cannot be read now while others can."""
        found = {}
        wanted = list(gates)
        trouble: list[OSError] = []
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            seen = self._files.bulk_read(some, records.RECORDS)
            for gate in some:
                try:
                    marks = records.read(seen, gate)
                except OSError as error:
                    trouble.append(error)
                    continue
                if marks is not None:
                    found[gate] = marks
        if trouble and len(trouble) == len(wanted):
            raise trouble[0]
        return found

    @doubted
    def has_more(self, seen: Mapping[str, ComponentRecord]) -> bool:
        """Whether a component has written down more than was `seen` at its gate, where that costs
        less than a look."""
        return any(self._shows(gate, *records.next_of(record)) for gate, record in seen.items())

    @doubted
    def record(self, gate: str) -> ComponentRecord | None:
        """What one component has written down so far; None: its gate is gone."""
        return records.read(self._files.bulk_read([gate], records.RECORDS), gate)

    def remains(
        self,
        gate: str | None,
        cause: Cause | None,
        native_start: float | None = None,
        marks: ComponentRecord | None = None,
    ) -> CleanupResult:
        """The component's last record; `cause` is its cluster's word on how it ended, and
        `native_start` on when its last run began (Unix seconds). `marks`: what it was a moment ago,
        which is its last if it tells of the end."""
        if gate is not None and (marks is None or marks.exit_code is None):
            marks = self.record(gate)
        own = marks is not None and marks.exit_code is not None and not marks.signalled
        if cause is Cause.EXIT:
            # A job that failed: its script ended by itself, or both were killed before it could.
            cause = None if own else Cause.KILLED
        if marks is None:
            return CleanupResult(cause=cause)
        return CleanupResult(
            marks.begun,
            marks.started,
            marks.ended,
            marks.exit_code,
            cause,
            shut=marks.gave_up,
            doubtful=marks.begun and not own and not _is_its_run(native_start, marks.started),
            signalled=marks.signalled,
        )

    @doubted
    def keep(self, gate: str, folder: str) -> None:
        """Put the component's work folder where it stays, unless that is done."""
        try:
            self._files.rename(work_folder(gate), folder)
        except OSError as error:
            raise UnknownOutcome(
                f"its results cannot be put into {folder}: {error.strerror}"
            ) from error

    @doubted
    def remove(self, gate: str) -> None:
        """Remove the gate: it is shut for ever. What another component has put may be laid into it
        just then: so it is tried again."""
        for _ in range(_REMOVALS):
            with Spoilt():  # what stands there now is nothing of ours, or of its user's making
                self._files.remove_tree(gate)
                return

    def _is_made(self, gate: str, again: bool) -> bool:
        """Whether its token file is there: of one that is prepared for the first time no component
        can have moved it."""
        shown = None if again else self._shows(gate, *(position.value for position in Position))
        if shown is not None:
            return shown
        # A listing may leave out what is renamed meanwhile. A component does that but once.
        return any(self._position(gate) for _ in range(1 + again))

    def _position(self, gate: str) -> Position | None:
        names = self._names(gate) or set()
        return next((p for p in Position if p.value in names), None)

    def _is_shut(self, gate: str) -> bool:
        """Whether it is seen that nothing has started from there, or can. Of a gate that is gone,
        exchanged or spoilt that is not known."""
        names = self._names(gate)
        return names is not None and names.isdisjoint(
            position.value for position in Position if position is not Position.ABORT
        )

    def _names(self, gate: str) -> set[str] | None:
        """What is in it; None: it is gone, spoilt, or replaced by somebody. That is as good as
        gone: its component, which looks whose it is too, starts nothing from there."""
        with Spoilt():
            found = self._files.list(gate)
            return None if found is None else {known(entry.name) for entry in found}
        return None

    def _move(self, gate: str, old: Position, new: Position) -> bool:
        with Spoilt():
            return self._rename(gate, old, new)
        return False

    def _rename(self, gate: str, old: Position, new: Position) -> bool:
        return self._files.rename(f"{gate}/{old.value}", f"{gate}/{new.value}")

    def _shows(self, gate: str, *names: str) -> bool | None:
        """Whether one of these is seen in it, in this order; None: only a listing tells."""
        with Spoilt():
            for name in names:
                shown = self._files.is_there(f"{gate}/{name}")
                if shown is not False:
                    return shown
        return False


def _is_its_run(native_start: float | None, started: float | None) -> bool:
    """Whether the run that the cluster tells of can be the one in which the script was started: it
    began no later. (Also where the disk is full a start leaves a record.)"""
    if started is None:
        return False
    return native_start is None or native_start <= started + _SKEW


def _cannot_write(gate: str, error: OSError) -> ClusterRefusal | UnknownOutcome:
    """What says so. The folder's own name is a secret: it is not told. What the broker itself is
    short of now is no refusal, which would cost the job a try: it is done again later."""
    if error.errno in _OURS:
        return UnknownOutcome(f"the broker is short of something now: {error.strerror}")
    cause = Cause.INVALID if error.errno in _THEIRS else Cause.REFUSED
    return ClusterRefusal(
        Cause.OWN if error.errno == errno.EDQUOT else cause,
        f"cannot write in {split(gate).root}: {error.strerror}",
    )
