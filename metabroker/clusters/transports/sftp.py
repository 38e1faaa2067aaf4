"""Files of a cluster's login host over SFTP, in a session of the connection that commands use.

Folders are read by a command: SFTP's own listing leaves out a file that is renamed meanwhile, and
knows no times finer than a second.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from collections.abc import Callable, Iterator

import paramiko

from .base import CommandLost, Unreached
from .connection import SshConnection
from .remote_files import CommandFiles, Run
from .sessions import beginning
from .sftp_content import get, put, write
from .sftp_steps import Ways
from .trust import split
from .turns import turn


class SftpSession:
    """A session that is opened when it is needed, and again when it has broken; one step of one
    user of it at a time. `rest`: how long one that has not answered is left alone, in seconds."""

    def __init__(
        self, open: Callable[[], paramiko.SFTPClient], seconds: float, *, rest: float = 0.0
    ) -> None:
        self._open = open
        self._seconds = seconds
        self._rest = rest
        self._tired = -rest
        self._one = threading.Lock()
        self._client: paramiko.SFTPClient | None = None
        self.used = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether there is a session now."""
        return self._client is not None

    @contextlib.contextmanager
    def one(self) -> Iterator[paramiko.SFTPClient]:
        """The session, for one step at a time.

        Raises:
            Unreached: there is none, so nothing was done.
            CommandLost: it ended in the middle.
        """
        with turn(self._one, self._seconds, "not done: another file is being transferred"):
            self.used = time.monotonic()
            if self.used < self._tired:
                raise Unreached("not done: the last one was not answered")
            with self._guarded(self._opened()) as sftp:
                yield sftp

    def close(self, *, if_idle: bool = False) -> bool:
        """End the session; with `if_idle`, not while it is used. Whether it was ended."""
        if not self._one.acquire(blocking=not if_idle):
            return False
        try:
            self._drop()
        finally:
            self._one.release()
        return True

    @contextlib.contextmanager
    def _guarded(self, sftp: paramiko.SFTPClient) -> Iterator[paramiko.SFTPClient]:
        try:
            yield sftp
        except TimeoutError as error:
            self._drop()  # a late answer would be taken for that to the next question
            self._tired = time.monotonic() + self._rest
            raise CommandLost(f"no answer within {self._seconds:g} s") from error
        except (EOFError, paramiko.SSHException, UnicodeDecodeError) as error:
            self._drop()
            raise CommandLost(f"the connection broke: {error}") from error
        except OSError as error:
            if sftp.get_channel().closed:
                self._drop()
                raise CommandLost(f"the connection broke: {error}") from error
            raise _told(error) from error

    def _opened(self) -> paramiko.SFTPClient:
        if self._client is None or self._client.get_channel().closed:
            self._drop()
            began = time.monotonic()
            try:
                self._client = self._open()
            except Unreached:
                if time.monotonic() - began >= self._seconds:
                    self._tired = time.monotonic() + self._rest
                raise
            self._client.get_channel().settimeout(self._seconds)
        return self._client

    def _drop(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):  # it is of no use any more, whatever it says
                self._client.close()
        self._client = None


class SessionFiles:
    """What of `Files` is one step of a session, once its folders are checked."""

    def __init__(self, session: SftpSession, ways: Ways) -> None:
        self.session = session
        self._ways = ways

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one."""
        with self.session.one() as sftp:
            self._ways.check(sftp, path)
            write(sftp, path, content, executable=executable)

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        with self.session.one() as sftp:
            return self._ways.rename(sftp, old, new)

    def is_there(self, path: str) -> bool | None:
        """Whether something is there."""
        with self.session.one() as sftp:
            try:
                self._ways.check(sftp, path)
                sftp.lstat(path)
            except FileNotFoundError:
                return False
        return True

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on, asked for at once and not one by one."""
        with self.session.one() as sftp:
            self._ways.check(sftp, path)
            return get(sftp, path, offset, length)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made."""
        with self.session.one() as sftp:
            self._ways.check(sftp, path)
            put(sftp, path, offset, content, executable=executable)


class SftpFiles(SessionFiles, CommandFiles):
    """`Files` over SFTP; what SFTP cannot do in one step is done by `run`'s commands."""

    def __init__(self, connection: SshConnection, run: Run, seconds: float) -> None:
        CommandFiles.__init__(self, run)
        session = SftpSession(lambda: _subsystem(connection, seconds), seconds)
        SessionFiles.__init__(self, session, Ways(self._private))

    def make_folder(self, path: str) -> bool:
        """Make a folder, and those between its root and it (mode 0700); fine if they are there."""
        self._believe(split(path).root)
        with self.session.one() as sftp:
            return self._ways.make(sftp, path, root_believed=True)

    def remove_tree(self, path: str) -> None:
        """See `Files.remove_tree`."""
        self._ways.forget(path)
        super().remove_tree(path)

    def close(self) -> None:
        """End the session."""
        self.session.close()


def _subsystem(connection: SshConnection, seconds: float) -> paramiko.SFTPClient:
    """The SFTP of the account that is logged in.

    Raises:
        Unreached: there is none.
    """
    with beginning(connection, seconds, "there is no SFTP over there") as channel:
        channel.invoke_subsystem("sftp")
        return paramiko.SFTPClient(channel)


def _told(error: OSError) -> OSError:
    """SFTP's errors without a number, with one."""
    if error.errno is not None:
        return error
    return OSError(errno.EIO, str(error) or "it failed")
