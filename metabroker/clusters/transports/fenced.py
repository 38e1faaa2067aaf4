"""A transport of a broker that may act only while it leads: each step asks first.

Every command and every step with a file passes `Permit`, which waits while it is not known whether
somebody else leads, and lets nothing through once somebody does. What has passed it is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .base import BulkRead, Command, Completed, Files, FolderEntry, Listed, RunAs, Transport

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
        return FencedFiles(self._inner.files, self._permit)

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
        return FencedFiles(self._acting.files_of(account), self._permit)

    def home_of(self, account: str) -> str:
        """See `RunAs.home_of`."""
        self._permit()
        return self._acting.home_of(account)


class FencedFiles:
    """Files of which each step asks first (see `Files`)."""

    def __init__(self, inner: Files, permit: Permit) -> None:
        self._inner = inner
        self._permit = permit

    def read(self, path: str) -> bytes | None:
        """See `BulkRead.read`."""
        self._permit()
        return self._inner.read(path)

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """See `BulkRead.list`."""
        self._permit()
        return self._inner.list(path)

    def bulk_read(self, folders: Sequence[str], names: Sequence[str]) -> BulkRead:
        """See `Files.bulk_read`."""
        self._permit()
        return self._inner.bulk_read(folders, names)

    def make_folder(self, path: str) -> None:
        """See `Files.make_folder`."""
        self._permit()
        self._inner.make_folder(path)

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """See `Files.write`."""
        self._permit()
        self._inner.write(path, content, executable=executable)

    def rename(self, old: str, new: str) -> bool:
        """See `Files.rename`."""
        self._permit()
        return self._inner.rename(old, new)

    def remove_tree(self, path: str) -> None:
        """See `Files.remove_tree`."""
        self._permit()
        self._inner.remove_tree(path)

    def tree(self, path: str) -> Sequence[Listed]:
        """See `Files.tree`."""
        self._permit()
        return self._inner.tree(path)

    def get(self, path: str, offset: int, length: int) -> bytes:
        """See `Files.get`."""
        self._permit()
        return self._inner.get(path, offset, length)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """See `Files.put`."""
        self._permit()
        self._inner.put(path, offset, content, executable=executable)
