"""A cluster that the configuration does not name any more: it never answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from metabroker.broker.states import Cause
from metabroker.clusters.transports.local import LocalTransport

from .operation import Operation
from .port import ClusterRefusal, ComponentRecord, UnknownOutcome


class UnconfiguredCluster:
    """Stands in for it (see `metabroker.clusters.port.Cluster`), so that what the store knows of it
    is kept until it is back."""

    def __init__(self, name: str) -> None:
        self._why = f"{name} is no longer in the configuration"
        self.transport = LocalTransport({})  # nothing is ever run

    def acting_for(self, _account: str) -> UnconfiguredCluster:
        """It does nothing for anybody."""
        return self

    def _refuse(self, *_asked: Any, **_named: Any) -> Operation[Any]:
        """It is not done."""
        yield from ()
        raise ClusterRefusal(Cause.UNREACHABLE, self._why)

    def _doubt(self, *_asked: Any, **_named: Any) -> Operation[Any]:
        """Whether it is done is told once the cluster is configured again."""
        yield from ()
        self._doubt_now()

    def _doubt_now(self, *_asked: Any, **_named: Any) -> NoReturn:
        """The same of a step at a gate."""
        raise UnknownOutcome(self._why)

    observe = reserve = submit = stage = _refuse
    clean = fetch = _doubt
    introduce = arm = ready = open = discard = _doubt_now

    def look(self, *_gates: Any) -> dict[str, ComponentRecord]:
        """Nothing can be seen."""
        return {}

    def has_more(self, _seen: Mapping[str, ComponentRecord]) -> bool:
        """Nothing can be seen."""
        return False

    def check_native(self, _options: tuple[str, ...]) -> str | None:
        """Nothing can be said."""
        return self._why

    def close(self) -> None:
        """Nothing to let go of."""
