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

from . import sftp_steps as steps
from .base import MOST_BYTES, MOST_DEPTH, MOST_FILES, FolderEntry, Listed, TooMany
from .bulk_read import Folder, RemoteBulkRead
from .sftp import SessionFiles, SftpSession
from .sftp_steps import Listing, Ways
from .trust import split

_MOST_LISTINGS = 5
_MOST_KEPT = 4096  # files whose content is remembered, and
_LARGEST_KEPT = 1024  # bytes of each: records are so small, other files are read once


class UserFiles(SessionFiles):
    """`Files` (see `base`) of one account."""

    def __init__(self, session: SftpSession, ways: Ways) -> None:
        super().__init__(session, ways)
        self._kept: dict[str, tuple[tuple[int | None, int | None], bytes]] = {}

    def make_folder(self, path: str) -> bool:
        """Make a folder, and those between its root and it (mode 0700); fine if they are there."""
        with self.session.one() as sftp:
            return self._ways.make(sftp, path)

    def read(self, path: str) -> bytes | None:
        """The content; None if it is not there."""
        with self.session.one() as sftp:
            try:
                self._ways.check(sftp, path)
                return self._content(sftp, path, sftp.lstat(path))
            except FileNotFoundError:
                return None

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder; None if the folder is not there."""
        with self.session.one() as sftp:
            before = self._listing(sftp, path)
            for _ in range(_MOST_LISTINGS):
                found = self._listing(sftp, path)
                if found is None or (before is not None and found.keys() == before.keys()):
                    break
                before = found
        return None if found is None else _entries(found)

    def bulk_read(self, folders: Sequence[str], names: Sequence[str]) -> RemoteBulkRead:
        """Many folders, and their files of these names."""
        found: dict[str, Folder] = {}
        for path in folders:
            with self.session.one() as sftp:
                try:
                    listing = self._listing(sftp, path)
                except PermissionError as error:
                    found[path] = Folder(error=error)
                    continue
                if listing is not None:
                    found[path] = self._folder(sftp, path, listing, names)
        return RemoteBulkRead(found)

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder; no link is followed."""
        found: list[Listed] = []
        left, seen = [path], 0
        while left:
            folder = left.pop()
            if folder.count("/") - path.count("/") > MOST_DEPTH:
                raise TooMany(f"its folders are nested more than {MOST_DEPTH} deep")
            with self.session.one() as sftp:
                self._ways.check(sftp, f"{folder}/")
                told = steps.listing(sftp, folder, MOST_FILES - seen)
            files, whole = ({}, True) if told is None else told
            seen += len(files)
            if not whole or seen >= MOST_FILES:
                raise TooMany(f"there are more than {MOST_FILES:,} files in it")
            for name, file in files.items():
                inner, mode = f"{folder}/{name}", file.st_mode or 0
                if stat.S_ISDIR(mode):
                    left.append(inner)
                elif stat.S_ISREG(mode):
                    below = inner.removeprefix(f"{path}/")
                    sizes = (file.st_size or 0, int(file.st_mtime or 0))
                    found.append(Listed(below, *sizes, bool(mode & stat.S_IXUSR)))
        return found

    def remove_tree(self, path: str) -> None:
        """See `Files.remove_tree`."""
        way = split(path)
        with self.session.one() as sftp:
            try:
                self._ways.check(sftp, f"{path}/")
            except FileNotFoundError:
                return
            self._ways.forget(path)
            steps.remove(sftp, path)
            for file in [each for each in self._kept if each.startswith(f"{path}/")]:
                del self._kept[file]
            if way.gates == len(way.parts) == 2:
                with contextlib.suppress(OSError):
                    sftp.rmdir(os.path.dirname(path))

    def _listing(self, sftp: paramiko.SFTPClient, path: str) -> Listing | None:
        """What is in a folder; of very much, only what somebody looks for."""
        try:
            self._ways.check(sftp, f"{path}/")
        except FileNotFoundError:
            return None
        told = steps.listing(sftp, path)
        if told is None:
            return None
        files, whole = told
        return files if whole else steps.known(sftp, path)

    def _folder(
        self, sftp: paramiko.SFTPClient, path: str, listing: Listing, names: Sequence[str]
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
            content: bytes = opened.read(MOST_BYTES)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        if len(content) == file.st_size and len(content) <= _LARGEST_KEPT:
            self._kept[path] = (mark, content)
        return content


def _entries(listing: Listing) -> Sequence[FolderEntry]:
    return [FolderEntry(name, float(file.st_mtime or 0)) for name, file in listing.items()]
