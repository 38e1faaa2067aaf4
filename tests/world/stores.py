"""The brokers' store: the real one, in memory, which at times cannot be reached or written."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from metabroker.store import Store, StoreUnavailable, Transaction
from metabroker.store.database import Guard, guard
from metabroker.store.leadership import Clock
from metabroker.store.rows import ClusterNames


class WorldStore(Store):
    """A way to the store.

    `fails` tells of each commit whether it fails "before" or "after" it was done; `reached` raises
    where nothing can be read either. `now` is the database's clock; `written` has each batch once.
    """

    def __init__(self) -> None:
        self.fails: Callable[[], str] = lambda: ""
        self.reached: Callable[[], None] = lambda: None
        self.now: Callable[[], float] = lambda: 0.0
        self.written: dict[int, Transaction] = {}
        self._committing = False
        super().__init__("sqlite://", migrate=False, clock=lambda _connection: self.now())

    def another_way(self) -> WorldStore:
        """The same store, reached in a way of its own."""
        other = copy.copy(self)
        other._guard = other._guarded(guard(other._engine))
        other._make_parts(lambda _connection: other.now())
        # A host that asks who leads plays what is wrong with its way by itself.
        other.leadership = self.leadership
        return other

    def _make_parts(self, clock: Clock) -> None:
        super()._make_parts(clock)
        remove = self.ended.remove

        def removed(*given: Any) -> None:
            failure = self.fails()
            if failure == "before":
                raise StoreUnavailable("disk full")
            remove(*given)
            if failure == "after":
                raise StoreUnavailable("locked")

        self.ended.remove = removed  # type: ignore[method-assign,assignment]

    def commit(self, batch: Transaction, names: ClusterNames) -> None:
        """Write, or fail before or after."""
        failure = self.fails()
        if failure == "before":
            raise StoreUnavailable("disk full")
        self._committing = True
        try:
            super().commit(batch, names)
            self.written[id(batch)] = batch
        finally:
            self._committing = False
        if failure == "after":
            raise StoreUnavailable("locked")

    def _guarded(self, uses: Guard) -> Guard:
        return lambda: _Reached(self, uses())


class _Reached:
    """One use of the store, if it can be reached. (There are many: a generator takes longer.)"""

    __slots__ = ("_inner", "_store")

    def __init__(self, store: WorldStore, inner: AbstractContextManager[None]) -> None:
        self._store = store
        self._inner = inner

    def __enter__(self) -> None:
        if not self._store._committing:
            self._store.reached()
        self._inner.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self._inner.__exit__(kind, error, trace)
