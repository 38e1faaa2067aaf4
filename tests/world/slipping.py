"""Files of a broker that may be stopped between asking whether it may and doing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metabroker.clusters.transports.base import FolderEntry, Listed

from .files import MemoryFiles

AboutTo = Callable[[Callable[[], object]], None]


class Slipped(BaseException):
    """The broker was stopped when it was about to do `what`."""

    def __init__(self, what: Callable[[], object]) -> None:
        super().__init__()
        self.what = what


class SlippingFiles:
    """Files of which each change is told to `about_to` first, which may raise `Slipped`."""

    def __init__(self, inner: MemoryFiles, about_to: AboutTo) -> None:
        self._inner = inner
        self._about_to = about_to

    def read(self, path: str) -> bytes | None:
        """See `Files`."""
        return self._inner.read(path)

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """See `Files`."""
        return self._inner.list(path)

    def bulk_read(self, _folders: Sequence[str], _names: Sequence[str]) -> MemoryFiles:
        """See `Files`."""
        return self._inner

    def tree(self, path: str) -> Sequence[Listed]:
        """See `Files`."""
        return self._inner.tree(path)

    def get(self, path: str, offset: int, length: int) -> bytes:
        """See `Files`."""
        return self._inner.get(path, offset, length)

    def make_folder(self, path: str) -> None:
        """See `Files`."""
        self._about_to(lambda: self._inner.make_folder(path))
        self._inner.make_folder(path)

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """See `Files`."""
        self._about_to(lambda: self._inner.write(path, content, executable=executable))
        self._inner.write(path, content, executable=executable)

    def rename(self, old: str, new: str) -> bool:
        """See `Files`."""
        self._about_to(lambda: self._inner.rename(old, new))
        return self._inner.rename(old, new)

    def remove_tree(self, path: str) -> None:
        """See `Files`."""
        self._about_to(lambda: self._inner.remove_tree(path))
        self._inner.remove_tree(path)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """See `Files`."""
        self._about_to(lambda: self._inner.put(path, offset, content))
        self._inner.put(path, offset, content, executable=executable)
