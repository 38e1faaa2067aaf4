"""What clusters have in common whose components meet the broker at gates."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, Self

from metabroker.broker.states import Cause

from .command_errors import answered
from .file_transfer import PART, fetching, sending
from .gate import HOME, Gates
from .gate.letters import Letters
from .operation import Operation
from .port import (
    CleanRequest,
    CleanupResult,
    Cluster,
    ClusterRefusal,
    ComponentRecord,
    ComponentRequest,
    FetchRequest,
    NativeSubmission,
    Peer,
    StageRequest,
    Transferred,
    UnknownOutcome,
)
from .submit_directory import SubmitDirectory
from .transports.base import (
    CommandLost,
    CommandMissing,
    Files,
    NotAllowed,
    RunAs,
    Transport,
    Unreached,
)


class NativeEnd(NamedTuple):
    """How a component's job ended, by its cluster's word, and when its last run began there (Unix
    seconds); None: that is not known."""

    cause: Cause | None
    started: float | None


class GatedCluster:
    """The part of `port.Cluster` that is the same for every resource manager.

    `transport`: how commands are run; `part`: files are sent and brought back by so many bytes at a
    time.
    """

    part = PART

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._gates = Gates(transport.files)
        self.account: str | None = None
        """Whose jobs these are; None: the account's that commands run under."""

    @property
    def files(self) -> Files:
        """The files that gates are made of, as the account whose jobs they are sees them."""
        if self.account is None or not isinstance(self.transport, RunAs):
            return self.transport.files
        return self.transport.files_of(self.account)

    def acting_for(self, account: str) -> Self:
        """The same cluster, for jobs of that account."""
        if not isinstance(self.transport, RunAs):
            raise UnknownOutcome(
                f"this job belongs to {account}, and this cluster's `run_as` no longer acts for "
                "users: restore its former value until such jobs have ended"
            )
        view = copy.copy(self)
        view.account = account
        view._gates = Gates(view.files)
        return view

    def placed(self, path: str) -> str:
        """A path whose root may be the account's home (`gate.HOME`), as it is in the cluster.

        Raises:
            UnknownOutcome: it cannot be asked now where that is.
        """
        if not path.startswith(f"{HOME}/"):
            return path
        assert self.account is not None and isinstance(self.transport, RunAs)
        try:
            home = self.transport.home_of(self.account)
        except NotAllowed as denied:
            raise ClusterRefusal(Cause.DENIED, str(denied)) from denied
        except (CommandLost, CommandMissing) as lost:
            raise UnknownOutcome(f"the home of {self.account}: {lost}") from lost
        return home.rstrip("/") + path.removeprefix(HOME)

    def introduce(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """The component is told who the others are."""
        self._gates.introduce(self.placed(gate), peers)

    def arm(self, gate: str) -> None:
        """The component can no longer give up."""
        self._gates.arm(self.placed(gate))

    def ready(self, gate: str) -> bool:
        """Whether the component has answered."""
        return self._gates.ready(self.placed(gate))

    def open(self, gate: str, peers: tuple[Peer, ...]) -> None:
        """Let the component go. Others of its job may run already: that nobody may act for its
        account now is no reason to give it up."""
        try:
            placed = self.placed(gate)
        except ClusterRefusal as denied:
            raise UnknownOutcome(denied.detail) from denied
        self._gates.open(placed, peers)

    def stage(self, request: StageRequest, home: SubmitDirectory) -> Operation[Transferred]:
        """Send files to the component's work folder."""
        request = replace(request, gate=self.placed(request.gate))
        return sending(self.files, home, request, self.part)

    def fetch(self, request: FetchRequest, home: SubmitDirectory) -> Operation[Transferred]:
        """Bring results back from there."""
        request = replace(request, gate=self.placed(request.gate))
        return fetching(self.files, home, request, self.part)

    def discard(self, gate: str, keep: str | None = None) -> None:
        """Remove the gate's folder; `keep`: where its work folder stays."""
        if keep is not None:
            self._gates.keep(self.placed(gate), self.placed(keep))
        self._gates.remove(self.placed(gate))

    def look(self, gates: Iterable[str]) -> dict[str, ComponentRecord]:
        """The components' own records."""
        names = {self.placed(gate): gate for gate in gates}
        return {names[path]: marks for path, marks in self._gates.look(names).items()}

    def has_more(self, seen: Mapping[str, ComponentRecord]) -> bool:
        """Whether `look` would tell more, where it costs more than to see that."""
        return self._gates.has_more({self.placed(gate): record for gate, record in seen.items()})

    def close(self) -> None:
        """Release the transport."""
        self.transport.close()

    def _submitted(
        self, request: ComponentRequest, submitting: Operation[NativeSubmission], gone: bool
    ) -> Operation[NativeSubmission]:
        """Carry out `submitting`, with what can go wrong in the port's words. `gone`: it is
        done again, and its gate was gone."""
        try:
            done = yield from answered(submitting)
            if gone and done.ended:
                # It had a gate, that was removed when its end was known; since then the store has
                # gone back. One in which nothing has started would say that it never did.
                self._gates.remove(request.gate)
            return done
        except ClusterRefusal as refusal:
            if request.again and isinstance(refusal.__cause__, Unreached):
                # It cannot even be asked whether it has the job from an earlier try.
                raise UnknownOutcome(refusal.detail) from refusal
            raise

    def _cleaned(
        self, request: CleanRequest, clean: Callable[[CleanRequest], Operation[NativeEnd]]
    ) -> Operation[CleanupResult]:
        """Shut the gate, carry out what `clean` asks for (which answers the cluster's word on how
        the job ended), and say what remains. The record stays until `discard`.

        Raises:
            UnknownOutcome: not clean yet, and whether the gate at least was shut in time.
        """
        if request.gate is not None:
            request = replace(request, gate=self.placed(request.gate))
        fenced = self._gates.shut(request)
        request.only_if(fenced)
        record = None
        if request.gate is not None and not fenced:
            record = self._gates.record(request.gate)
            writer = None if record is None else record.writer
            if request.knows(writer):
                writer = None
            recorded = record is not None and record.exit_code is not None
            request = replace(request, writer=writer, recorded=recorded)
        try:
            end = yield from answered(clean(request))
        except (ClusterRefusal, UnknownOutcome) as trouble:
            raise UnknownOutcome(trouble.detail, fenced=fenced) from trouble
        return self._gates.remains(request.gate, end.cause, end.started, record)


def letters_of(cluster: Cluster) -> Letters:
    """What components of that cluster tell the others, and are told.

    Raises:
        UnknownOutcome: its files cannot be reached now.
    """
    if not isinstance(cluster, GatedCluster):
        raise UnknownOutcome("the cluster is not configured now")
    return Letters(cluster.files, cluster.placed)
