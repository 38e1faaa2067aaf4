"""A shared folder in memory, with times of its owner's clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metabroker.clusters.transports.base import Entry


class MemoryFiles:
    """`Files` in memory; `broken` makes every access fail, as a file server that is away does."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._folders: dict[str, dict[str, tuple[bytes, float]]] = {}
        self.broken = False

    @property
    def folders(self) -> Sequence[str]:
        """The folders that there are."""
        return list(self._folders)

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self._check(path)
        self._folders.setdefault(path, {})

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole."""
        self._check(path)
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            raise FileNotFoundError(2, "No such file or directory", path)
        self._folders[folder][name] = (content, self._clock())

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step."""
        self._check(old)
        folder, _, name = old.rpartition("/")
        files = self._folders.get(folder)
        if files is None or name not in files:
            return False
        files[new.rpartition("/")[2]] = files.pop(name)
        return True

    def read(self, path: str) -> bytes | None:
        """The content."""
        self._check(path)
        folder, _, name = path.rpartition("/")
        found = self._folders.get(folder, {}).get(name)
        return None if found is None else found[0]

    def list(self, path: str) -> Sequence[Entry] | None:
        """What is in a folder."""
        self._check(path)
        files = self._folders.get(path)
        return None if files is None else [Entry(n, at) for n, (_c, at) in files.items()]

    def glance(self, _folders: Sequence[str], _names: Sequence[str]) -> MemoryFiles:
        """The files themselves."""
        return self

    def remove_tree(self, path: str) -> None:
        """Remove a folder."""
        self._check(path)
        self._folders.pop(path, None)

    def _check(self, path: str) -> None:
        if self.broken:
            raise OSError(5, "Input/output error", path)
