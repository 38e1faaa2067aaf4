"""The folder in which a job was submitted: where its files come from and its results go to."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Protocol

from metabroker.clusters.transports.base import Listed


class SubmitDirectory(Protocol):
    """Files below a job's submit directory, on this host. Names are relative, and no link is
    followed on the way to them, so that none leads elsewhere.

    Each raises `OSError` where that cannot be done.
    """

    def look(self, folder: str, name: str) -> Listed | None:
        """The regular file of that name; None if it is not there."""

    def get(self, folder: str, was: Listed, offset: int, length: int) -> bytes:
        """A part of the file, which must still be what it `was` (else `FileChanged`)."""

    def clear(self, folder: str, name: str) -> None:
        """Remove a folder of files that were not finished; fine if it is not there."""

    def put(self, folder: str, new: str, offset: int, content: bytes) -> None:
        """Write a part of a new file, which lasts; the part at 0 makes it, and its folders."""

    def finish(self, folder: str, new: str, made: Listed) -> None:
        """The new file is whole: it takes its name, its mode and its time."""

    def sync(self, folder: str, name: str) -> None:
        """The names in that folder last (`""`: in the submit directory itself)."""


# What has become a pipe since it was looked at is not waited for.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class FileChanged(OSError):
    """A file was changed while it was sent."""


class LocalSubmitDirectory:
    """Homes as the daemon's own account sees them."""

    def look(self, folder: str, name: str) -> Listed | None:
        """The regular file of that name; None if it is not there."""
        try:
            with _parent(folder, name) as (parent, last):
                return _listed(name, os.stat(last, dir_fd=parent, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def get(self, folder: str, was: Listed, offset: int, length: int) -> bytes:
        """A part of the file, which must still be what it `was`."""
        with _parent(folder, was.path) as (parent, last):
            handle = os.open(last, _READING, dir_fd=parent)
        with os.fdopen(handle, "rb", buffering=0) as file:
            if _listed(was.path, os.fstat(handle)) != was:
                raise FileChanged(0, "it was changed while it was sent")
            file.seek(offset)
            return file.read(length)

    def clear(self, folder: str, name: str) -> None:
        """Remove a folder of files that were not finished; fine if it is not there."""
        gone = contextlib.suppress(FileNotFoundError)
        with gone, _parent(folder, f"{name}/.") as (here, _), os.scandir(here) as files:
            for file in files:
                with gone:
                    os.unlink(file.name, dir_fd=here)
        with contextlib.suppress(OSError), _parent(folder, name) as (parent, last):
            os.rmdir(last, dir_fd=parent)

    def put(self, folder: str, new: str, offset: int, content: bytes) -> None:
        """Write a part of a new file, which lasts; the part at 0 makes it, and its folders."""
        begins = os.O_CREAT | os.O_EXCL if offset == 0 else 0
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | begins
        with _parent(folder, new, make=offset == 0) as (parent, last):
            handle = os.open(last, flags, 0o600, dir_fd=parent)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            file.seek(offset)
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]
            os.fsync(handle)

    def finish(self, folder: str, new: str, made: Listed) -> None:
        """The new file is whole: it takes its name, its mode and its time."""
        with _parent(folder, new) as (source, part), _parent(folder, made.path, make=True) as to:
            handle = os.open(part, _READING, dir_fd=source)
            try:
                umask = _umask()
                os.fchmod(handle, (0o777 if made.executable else 0o666) & ~umask)
                os.utime(handle, (made.modified, made.modified))
                os.fsync(handle)
            finally:
                os.close(handle)
            os.rename(part, to[1], src_dir_fd=source, dst_dir_fd=to[0])

    def sync(self, folder: str, name: str) -> None:
        """The names in that folder last (`""`: in the submit directory itself)."""
        with _parent(folder, f"{name}/.".lstrip("/")) as (here, _):
            os.fsync(here)


@contextlib.contextmanager
def _parent(folder: str, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder that `name` is in, and its last part; every step is a real folder."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    *between, last = name.split("/")
    here = os.open(folder, flags)
    try:
        for part in between:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            below = os.open(part, flags | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        yield here, last
    finally:
        os.close(here)


def _listed(name: str, seen: os.stat_result) -> Listed:
    if stat.S_ISLNK(seen.st_mode):
        raise OSError(0, "it is a symbolic link: name the file itself")
    if not stat.S_ISREG(seen.st_mode):
        raise OSError(0, "it is not a regular file")
    return Listed(name, seen.st_size, int(seen.st_mtime), bool(seen.st_mode & stat.S_IXUSR))


def _umask() -> int:
    """The process's own, read where it can be read without setting it."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o077
