"""Files of an account other than the one we run under, by an SFTP server that is the account's.

Only SFTP is spoken, so no shell is needed over there, and nobody's files but the account's own can
be touched. Times are of whole seconds; a folder is listed again until two listings tell the same,
since one may leave out a file that is renamed meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Sequence

import paramiko

from . import sftp as steps
from .base import Entry, Listed
from .glance import FarGlance, Folder
from .sftp import SftpSession

_MOST_LISTINGS = 5
_MOST_BYTES = 65536  # of a file that is read
_MOST_KEPT = 4096  # files whose content is remembered
_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_Listing = dict[str, paramiko.SFTPAttributes]


class UserFiles:
    """`Files` (see `base`) of one account."""

    def __init__(self, session: SftpSession) -> None:
        self.session = session
        self._kept: dict[str, tuple[tuple[int | None, int | None], bytes]] = {}

    def make_folder(self, path: str) -> None:
        """Make a folder and its parent (mode 0700); fine if they are there."""
        with self.session.one() as sftp:
            steps.make_folder(sftp, path)

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one. Its folder and the one above
        must be the account's: in a folder that all may write to (`shared_dir`), somebody else may
        have made them first, and could put another script into them."""
        folder = os.path.dirname(path)
        with self.session.one() as sftp:

            def check(made: paramiko.SFTPAttributes) -> None:
                for place in (folder, os.path.dirname(folder)):
                    found = sftp.lstat(place)
                    if found.st_uid != made.st_uid or (found.st_mode or 0) & _OTHERS:
                        raise OSError(errno.EPERM, f"{os.path.basename(place)} is somebody else's")

            steps.write(sftp, path, content, executable=executable, check=check)

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        with self.session.one() as sftp:
            return steps.rename(sftp, old, new)

    def read(self, path: str) -> bytes | None:
        """The content; None if it is not there."""
        with self.session.one() as sftp:
            try:
                return self._content(sftp, path, sftp.lstat(path))
            except FileNotFoundError:
                return None

    def list(self, path: str) -> Sequence[Entry] | None:
        """What is in a folder; None if the folder is not there."""
        with self.session.one() as sftp:
            before = _listing(sftp, path)
            for _ in range(_MOST_LISTINGS):
                found = _listing(sftp, path)
                if found is None or (before is not None and found.keys() == before.keys()):
                    break
                before = found
        return None if found is None else _entries(found)

    def glance(self, folders: Sequence[str], names: Sequence[str]) -> FarGlance:
        """Many folders, and their files of these names."""
        found: dict[str, Folder] = {}
        for path in folders:
            with self.session.one() as sftp:
                try:
                    listing = _listing(sftp, path)
                except PermissionError as error:
                    found[path] = Folder(error=error)
                    continue
                if listing is not None:
                    found[path] = self._folder(sftp, path, listing, names)
        return FarGlance(found)

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder; no link is followed."""
        found: list[Listed] = []
        with self.session.one() as sftp:
            left = [path]
            while left:
                folder = left.pop()
                for name, file in (_listing(sftp, folder) or {}).items():
                    inner, mode = f"{folder}/{name}", file.st_mode or 0
                    if stat.S_ISDIR(mode):
                        left.append(inner)
                    elif stat.S_ISREG(mode):
                        below = inner.removeprefix(f"{path}/")
                        sizes = (file.st_size or 0, int(file.st_mtime or 0))
                        found.append(Listed(below, *sizes, bool(mode & stat.S_IXUSR)))
        return found

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on."""
        with self.session.one() as sftp:
            return steps.get(sftp, path, offset, length)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made."""
        with self.session.one() as sftp:
            steps.put(sftp, path, offset, content, executable=executable)

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all in it, and its parent if that is empty now."""
        with self.session.one() as sftp:
            _remove(sftp, path)
            with contextlib.suppress(OSError):
                sftp.rmdir(os.path.dirname(path))

    def _folder(
        self, sftp: paramiko.SFTPClient, path: str, listing: _Listing, names: Sequence[str]
    ) -> Folder:
        folder = Folder(names=list(listing))
        folder.times = {name: float(file.st_mtime or 0) for name, file in listing.items()}
        for name in names:
            if name in listing:
                try:
                    folder.contents[name] = self._content(sftp, f"{path}/{name}", listing[name])
                except OSError as error:
                    if error.errno == errno.ELOOP:
                        folder.links.add(name)
        return folder

    def _content(
        self, sftp: paramiko.SFTPClient, path: str, file: paramiko.SFTPAttributes
    ) -> bytes:
        """What stands in a plain file; nothing else is opened, since that could take for ever."""
        if not stat.S_ISREG(file.st_mode or 0):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        mark = (file.st_mtime, file.st_size)
        known = self._kept.get(path)
        if known is not None and known[0] == mark:
            return known[1]
        with sftp.open(path, "rb") as opened:
            content: bytes = opened.read(_MOST_BYTES)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        if len(content) == file.st_size:
            self._kept[path] = (mark, content)
        return content


def _listing(sftp: paramiko.SFTPClient, path: str) -> _Listing | None:
    try:
        return {file.filename: file for file in sftp.listdir_attr(path)}
    except FileNotFoundError:
        return None


def _entries(listing: _Listing) -> Sequence[Entry]:
    return [Entry(name, float(file.st_mtime or 0)) for name, file in listing.items()]


def _remove(sftp: paramiko.SFTPClient, path: str) -> None:
    """Remove a folder with all in it; fine if it is not there, or goes meanwhile."""
    left = [path]
    while left:
        folder = left[-1]
        inner = []
        for name, file in (_listing(sftp, folder) or {}).items():
            if stat.S_ISDIR(file.st_mode or 0):
                inner.append(f"{folder}/{name}")
            else:
                with contextlib.suppress(FileNotFoundError):
                    sftp.remove(f"{folder}/{name}")
        if inner:
            left += inner
        else:
            left.pop()
            with contextlib.suppress(FileNotFoundError):
                sftp.rmdir(folder)
