"""Acting for users: commands and files as the account whose jobs they are.

By `sudo`, whose rules then say what may be run for whom (configs/sudoers/metabroker), on this host
or on a login host; or, where the daemon is root, by giving child processes the user's ids.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import paramiko

from .base import Command, Completed, Files, NotAllowed, Transport, Unreached
from .sftp import SftpSession
from .sftp_steps import Ways
from .trust import is_private
from .user_files import UserFiles

SFTP_SERVER = "/usr/lib/openssh/sftp-server"
_IDLE = 60.0  # seconds after which an unused server of an account is ended
_REST = 30.0  # seconds for which one that does not answer is left alone
_MOST_ACCOUNTS = 4096
# What sudo says where it has run nothing. It exits with 1 then, as many commands do.
_SUDO = "sudo: "
_NO_RULE = ("Sorry, user ", "may not run sudo", "is not allowed to", "is not in the sudoers file")
# What it says, and runs the command all the same.
_WARNINGS = ("unable to resolve host", "setrlimit(", "unable to send audit message")


class Speaking(Transport, Protocol):
    """A transport that can also start a command to speak with."""

    def speak(self, command: Command) -> Any:
        """What a `paramiko.SFTPClient` can be made of: a channel, or something alike.

        Raises:
            CommandMissing: it was not run (`Unreached`: since nothing can be run there now).
        """


Method = Callable[[Command], Command]
"""How one becomes somebody else: the command of an account as the transport within is to run it."""


def by_sudo(command: Command, folder: str | None = None) -> Command:
    """By sudo, without a password. `folder`: of the programs that it runs; None: sudo looks for
    them in its own `secure_path`."""
    assert command.account is not None
    program, *rest = command.argv
    if folder is not None and "/" not in program:
        program = f"{folder.rstrip('/')}/{program}"
    words = ("sudo", "-n", "-u", command.account, "--", program, *rest)
    return replace(command, argv=words, account=None)


def by_ids(command: Command) -> Command:
    """By the ids of the child process: the local transport does it."""
    return command


class RunAsTransport:
    """The transport within, and beside it what is done as other accounts.

    `most`: how many accounts have a server of their files at once.
    """

    def __init__(
        self,
        inner: Speaking,
        way: Method,
        *,
        sftp_server: str = SFTP_SERVER,
        command_timeout: float = 30.0,
        most: int = 32,
    ) -> None:
        self._inner = inner
        self._way = way
        self._server = sftp_server
        self._seconds = command_timeout
        self._most = most
        self._lock = threading.Lock()
        self._files: dict[str, UserFiles] = {}
        self._homes: dict[str, str] = {}

    @property
    def files(self) -> Files:
        """The files as the account that we run under sees them."""
        return self._inner.files

    def files_of(self, account: str) -> UserFiles:
        """The files as that account sees them."""
        self._rest()
        with self._lock:
            found = self._files.get(account)
            if found is None:
                if len(self._files) >= _MOST_ACCOUNTS:
                    self._files = {n: f for n, f in self._files.items() if f.session.is_open}
                session = SftpSession(partial(self._serve, account), self._seconds, rest=_REST)
                ways = Ways(partial(self._private, account), self._keeper)
                found = self._files[account] = UserFiles(session, ways)
            return found

    def home_of(self, account: str) -> str:
        """The account's home, as the host there knows it; see `Acting.home_of`."""
        known = self._homes.get(account)
        if known is None:
            fields = self._asked("getent", "passwd", account).split(":")
            if len(fields) < 6 or not fields[5].startswith("/"):
                raise NotAllowed(f"there is no account {account} with a home folder there")
            if len(self._homes) >= _MOST_ACCOUNTS:
                self._homes.clear()
            known = self._homes[account] = fields[5]
        return known

    def run(self, command: Command) -> Completed:
        """Run a command to its end, as its account; see `Transport.run`."""
        self._rest()
        if command.account is None:
            return self._inner.run(command)
        done = self._inner.run(self._way(command))
        if done.exit_status == 1:
            refused = refusal(done.stderr)
            if refused is not None:
                raise NotAllowed(_explained(command.account, command.argv[0], refused))
        return done

    def close(self) -> None:
        """End the servers, and the transport."""
        with self._lock:
            files, self._files = list(self._files.values()), {}
        for each in files:
            each.session.close(if_idle=True)
        self._inner.close()

    def _asked(self, *words: str) -> str:
        """What a command that only tells something says, run as we are; nothing where it fails."""
        done = self._inner.run(Command(words))
        return done.stdout.strip("\n") if done.exit_status == 0 else ""

    def _keeper(self) -> int | None:
        """The number that we have there."""
        said = self._asked("id", "-u")
        return int(said) if said.isascii() and said.isdigit() else None

    def _private(self, account: str, path: str, gid: int) -> bool:
        """Whether a group is the account's alone."""
        return is_private(
            account,
            self._asked("getent", "group", str(gid)),
            self._asked("getent", "passwd", account),
            self._asked("ls", "-ld", "--", path),
        )

    def _serve(self, account: str) -> paramiko.SFTPClient:
        """A server of the account's files.

        Raises:
            NotAllowed: we may not act for the account.
            Unreached: there is none now.
        """
        self._make_room(account)
        asked = Command((self._server,), account=account)
        spoken = self._inner.speak(self._way(asked))
        spoken.settimeout(self._seconds)
        try:
            return paramiko.SFTPClient(spoken)
        except (paramiko.SSHException, OSError, EOFError, TimeoutError) as error:
            said = spoken.complaint()
            spoken.close()
            if refusal(said) is not None:
                raise NotAllowed(_explained(account, self._server, said)) from error
            raise Unreached(
                f"no SFTP server runs as {account}: {said}; see `sftp_server` of this cluster"
            ) from error

    def _make_room(self, account: str) -> None:
        """End the server that was used the longest ago, if there are too many."""
        with self._lock:
            others = [f for n, f in self._files.items() if n != account and f.session.is_open]
        others.sort(key=lambda files: files.session.used)
        for each in others:
            if len(others) < self._most:
                return
            if each.session.close(if_idle=True):
                others = [other for other in others if other.session.is_open]
        if len(others) >= self._most:
            raise Unreached(
                f"{account}'s files: not reached: other users' files are being transferred"
            )

    def _rest(self) -> None:
        """End the servers that nobody has used for a while."""
        before = time.monotonic() - _IDLE
        with self._lock:
            sessions = [files.session for files in self._files.values()]
        for session in sessions:
            if session.is_open and session.used < before:
                session.close(if_idle=True)


def refusal(stderr: str) -> str | None:
    """Why sudo has run nothing, by what it says; None: it has run the command, which says so
    itself, or sudo has but warned."""
    said = None
    for line in filter(None, map(str.strip, stderr.splitlines())):
        if any(word in line for word in _NO_RULE):
            return line
        if not line.startswith(_SUDO):
            return None
        if said is None and not any(word in line for word in _WARNINGS):
            said = line
    return said


def _explained(account: str, program: str, said: str) -> str:
    return (
        f"not allowed to run {program} as {account} ({said}): an administrator can allow it, see "
        "configs/sudoers/metabroker"
    )
