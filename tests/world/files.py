"""A shared folder in memory, with times of its owner's clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from metabroker.clusters.transports.base import CommandLost, FolderEntry, Listed

T = TypeVar("T")


class MemoryFiles:
    """`Files` in memory; `broken` makes every access fail, as a file server that is away does."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._folders: dict[str, dict[str, tuple[bytes, float]]] = {}
        self.broken = False
        self.fate: Callable[[], str] = lambda: ""  # of each step of a transfer

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
        """Rename in one step: a file, or a folder with all that is in it."""
        self._check(old)
        if old in self._folders:
            for path in [p for p in self._folders if p == old or p.startswith(f"{old}/")]:
                self._folders[new + path[len(old) :]] = self._folders.pop(path)
            return True
        folder, _, name = old.rpartition("/")
        files = self._folders.get(folder)
        if files is None or name not in files:
            return False
        to, _, named = new.rpartition("/")
        if to not in self._folders:
            raise FileNotFoundError(2, "No such file or directory", new)
        self._folders[to][named] = files.pop(name)
        return True

    def read(self, path: str) -> bytes | None:
        """The content."""
        self._check(path)
        folder, _, name = path.rpartition("/")
        found = self._folders.get(folder, {}).get(name)
        return None if found is None else found[0]

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder."""
        self._check(path)
        files = self._folders.get(path)
        return None if files is None else [FolderEntry(n, at) for n, (_c, at) in files.items()]

    def bulk_read(self, _folders: Sequence[str], _names: Sequence[str]) -> MemoryFiles:
        """The files themselves."""
        return self

    def remove_tree(self, path: str) -> None:
        """Remove a folder."""
        self._check(path)
        for folder in [p for p in self._folders if p == path or p.startswith(f"{path}/")]:
            del self._folders[folder]

    def tree(self, path: str) -> Sequence[Listed]:
        """The files below a folder."""
        return self._transfer(lambda: self._tree(path), path)

    def get(self, path: str, offset: int, length: int) -> bytes:
        """A part of a file."""
        return self._transfer(lambda: self._content(path)[offset : offset + length], path)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file."""
        self._transfer(lambda: self._put(path, offset, content), path)

    def _tree(self, path: str) -> Sequence[Listed]:
        return [
            Listed(f"{folder}/{name}"[len(path) + 1 :], len(content), int(at))
            for folder, files in self._folders.items()
            if folder == path or folder.startswith(f"{path}/")
            for name, (content, at) in files.items()
        ]

    def _put(self, path: str, offset: int, content: bytes) -> None:
        before = self._content(path)[:offset] if offset else b""
        self.write(path, before + content)

    def _content(self, path: str) -> bytes:
        found = self.read(path)
        if found is None:
            raise FileNotFoundError(2, "No such file or directory", path)
        return found

    def _transfer(self, step: Callable[[], T], path: str) -> T:
        """A step of a transfer, which may get lost on its way there or back."""
        self._check(path)
        fate = self.fate()
        if fate == "request":
            raise CommandLost("no answer")
        done = step()
        if fate == "reply":
            raise CommandLost("no answer")
        return done

    def _check(self, path: str) -> None:
        if self.broken:
            raise OSError(5, "Input/output error", path)
