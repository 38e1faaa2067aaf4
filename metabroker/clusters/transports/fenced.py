"""Transports and submit directories of a broker that may act only while it leads.

Every command and every step with a file passes `Permit`, which waits while it is not known whether
somebody else leads, and lets nothing through once somebody does. What has passed it is under way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .base import Command, Completed, Files, RunAs, Transport

F = TypeVar("F")
Permit = Callable[[], None]
"""Returns when the broker may act. Raises CommandLost where it never will again."""


def permitted(transport: Transport, permit: Permit) -> Transport:
    """The same transport; it acts for accounts if that does."""
    if isinstance(transport, RunAs):
        return _FencedRunAs(transport, permit)
    return _Fenced(transport, permit)


class _Fenced:
    def __init__(self, inner: Transport, permit: Permit) -> None:
        self._inner = inner
        self._permit = permit

    @property
    def files(self) -> Files:
        return fenced(self._inner.files, self._permit)

    def run(self, command: Command) -> Completed:
        self._permit()
        return self._inner.run(command)

    def close(self) -> None:
        self._inner.close()


class _FencedRunAs(_Fenced):
    def __init__(self, inner: Transport, permit: Permit) -> None:
        super().__init__(inner, permit)
        assert isinstance(inner, RunAs)
        self._acting = inner

    def files_of(self, account: str) -> Files:
        """The files as that account sees them."""
        return fenced(self._acting.files_of(account), self._permit)

    def home_of(self, account: str) -> str:
        """See `RunAs.home_of`."""
        self._permit()
        return self._acting.home_of(account)


def fenced(files: F, permit: Permit) -> F:
    """The same files; each step of theirs asks first, whichever of their methods it is."""
    return cast(F, _FencedFiles(files, permit))


class _FencedFiles:
    def __init__(self, inner: Any, permit: Permit) -> None:
        self._inner = inner
        self._permit = permit

    def __getattr__(self, name: str) -> Callable[..., Any]:
        step = getattr(self._inner, name)

        def asked_first(*words: Any, **named: Any) -> Any:
            self._permit()
            return step(*words, **named)

        return asked_first
