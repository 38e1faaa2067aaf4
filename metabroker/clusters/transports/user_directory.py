"""Submit directories of users whose account is not the daemon's: read and written as theirs, by an
SFTP server of each on this host, so that nothing can be reached that its user could not reach."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

import paramiko

from metabroker.broker.states import Cause
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.submit_directory import FileChanged

from . import sftp_content as files
from . import sftp_steps as steps
from .base import CommandLost, CommandMissing, Listed, Unreached
from .run_as import RunAsTransport


class UserDirectory:
    """`SubmitDirectory` (see `metabroker.clusters.submit_directory`) of one user; `transport` acts
    for users on this host."""

    def __init__(self, transport: RunAsTransport, user: str) -> None:
        self._files = transport.files_of(user)

    def look(self, folder: str, name: str) -> Listed | None:
        """The regular file of that name; None if it is not there."""
        with self._session() as sftp:
            try:
                return _listed(name, sftp.lstat(_way(sftp, folder, name)))
            except FileNotFoundError:
                return None

    def get(self, folder: str, was: Listed, offset: int, length: int) -> bytes:
        """A part of the file, which must still be what it `was`."""
        with self._session() as sftp:
            path = _way(sftp, folder, was.path)
            if _listed(was.path, sftp.lstat(path)) != was:
                raise FileChanged(0, "it was changed while it was sent")
            return files.get(sftp, path, offset, length)

    def clear(self, folder: str, name: str) -> None:
        """Remove a folder of files that were not finished; fine if it is not there."""
        with self._session() as sftp, contextlib.suppress(FileNotFoundError):
            steps.remove(sftp, os.path.dirname(_way(sftp, folder, f"{name}/.")))

    def put(self, folder: str, new: str, offset: int, content: bytes) -> None:
        """Write a part of a new file, which lasts; the part at 0 makes it, and its folders."""
        with self._session() as sftp:
            path = _way(sftp, folder, new, make=offset == 0)
            files.put(sftp, path, offset, content, lasting=True)

    def finish(self, folder: str, new: str, made: Listed) -> None:
        """The new file is whole: it takes its name, its mode and its time."""
        with self._session() as sftp:
            path = _way(sftp, folder, made.path, make=True)
            sftp.chmod(f"{folder}/{new}", 0o755 if made.executable else 0o644)
            sftp.utime(f"{folder}/{new}", (made.modified, made.modified))
            sftp.posix_rename(f"{folder}/{new}", path)

    def sync(self, folder: str, name: str) -> None:
        """The names in that folder last (`""`: in the submit directory itself)."""
        with self._session() as sftp:
            path = _way(sftp, folder, f"{name}/.".lstrip("/"))
            with sftp.open(path) as here:
                files.sync(sftp, here)

    @contextlib.contextmanager
    def _session(self) -> Iterator[paramiko.SFTPClient]:
        """The user's server, for one step."""
        try:
            with self._files.session.one() as sftp:
                yield sftp
        except (CommandLost, Unreached) as lost:
            raise UnknownOutcome(f"the user's own files: {lost}") from lost
        except CommandMissing as refused:
            raise ClusterRefusal(Cause.INVALID, f"the user's own files: {refused}") from refused


def _way(sftp: paramiko.SFTPClient, folder: str, name: str, *, make: bool = False) -> str:
    """The path of `name`, every step of which is a real folder."""
    *between, last = name.split("/")
    for part in between:
        folder = f"{folder}/{part}"
        try:
            seen = sftp.lstat(folder)
        except FileNotFoundError:
            if not make:
                raise
            # Its only word for what is there by now is that it failed.
            with contextlib.suppress(OSError):
                sftp.mkdir(folder, 0o755)
            seen = sftp.lstat(folder)
        if not stat.S_ISDIR(seen.st_mode or 0):
            raise OSError(0, f"{part} is not a folder")
    return f"{folder}/{last}"


def _listed(name: str, seen: paramiko.SFTPAttributes) -> Listed:
    mode = seen.st_mode or 0
    if stat.S_ISLNK(mode):
        raise OSError(0, "it is a symbolic link: name the file itself")
    if not stat.S_ISREG(mode):
        raise OSError(0, "it is not a regular file")
    runs = bool(mode & stat.S_IXUSR)
    return Listed(name, seen.st_size or 0, int(seen.st_mtime or 0), runs)
