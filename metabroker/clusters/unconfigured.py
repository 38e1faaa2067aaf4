"""A cluster that the configuration does not name any more: it never answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from metabroker.broker.observation import Snapshot
from metabroker.broker.states import Cause
from metabroker.clusters.transports.base import Transport
from metabroker.clusters.transports.local import LocalTransport

from .operation import Operation
from .port import (
    CleanRequest,
    CleanupResult,
    ClusterRefusal,
    ComponentRecord,
    ComponentRequest,
    FetchRequest,
    NativeSubmission,
    Peer,
    ReserveRequest,
    StageRequest,
    Transferred,
    UnknownOutcome,
)
from .submit_directory import SubmitDirectory


class UnconfiguredCluster:
    """Stands in for it, so that what the store knows of it is kept until it is back."""

    def __init__(self, name: str) -> None:
        self._why = f"{name} is no longer in the configuration"

    @property
    def transport(self) -> Transport:
        """Nothing is ever run."""
        return LocalTransport({})

    def acting_for(self, _account: str) -> UnconfiguredCluster:
        """It does nothing for anybody."""
        return self

    def observe(self, _now: float) -> Operation[Snapshot]:
        """Never answers."""
        yield from ()
        self._refuse()

    def reserve(self, _order: ReserveRequest) -> Operation[None]:
        """Never answers."""
        yield from ()
        self._refuse()

    def submit(self, _order: ComponentRequest) -> Operation[NativeSubmission]:
        """Never answers."""
        yield from ()
        self._refuse()

    def introduce(self, _gate: str, _peers: tuple[Peer, ...]) -> None:
        """Never answers."""
        self._doubt()

    def arm(self, _gate: str) -> None:
        """Never answers."""
        self._doubt()

    def ready(self, _gate: str) -> bool:
        """Never answers."""
        self._doubt()

    def open(self, _gate: str, _peers: tuple[Peer, ...]) -> None:
        """Never answers."""
        self._doubt()

    def clean(self, _order: CleanRequest) -> Operation[CleanupResult]:
        """Not before the cluster is configured again."""
        yield from ()
        self._doubt()

    def stage(self, _order: StageRequest, _home: SubmitDirectory) -> Operation[Transferred]:
        """Never answers."""
        yield from ()
        self._refuse()

    def fetch(self, _order: FetchRequest, _home: SubmitDirectory) -> Operation[Transferred]:
        """Not before the cluster is configured again."""
        yield from ()
        self._doubt()

    def discard(self, _gate: str, _keep: str | None = None) -> None:
        """Not before the cluster is configured again."""
        self._doubt()

    def look(self, _gates: Iterable[str]) -> dict[str, ComponentRecord]:
        """Nothing can be seen."""
        return {}

    def check_native(self, _options: tuple[str, ...]) -> str | None:
        """Nothing can be said."""
        return self._why

    def close(self) -> None:
        """Nothing to let go of."""

    def _refuse(self) -> NoReturn:
        raise ClusterRefusal(Cause.UNREACHABLE, self._why)

    def _doubt(self) -> NoReturn:
        raise UnknownOutcome(self._why)
