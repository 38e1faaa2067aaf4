"""The local transport: commands as child processes, files on mounted file systems."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import partial

from metabroker import accounts, openfiles

from .base import Command, CommandLost, CommandMissing, Completed, NotAllowed, located
from .children import talk
from .local_files import LocalFiles
from .pipe import Pipe

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def scrubbed(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a cluster's commands: who we are, where programs lie, and `extra`.

    Nothing else of the daemon's own environment gets in, since the native submit command hands
    its environment on to the job.
    """
    account = accounts.own()
    base = {
        "HOME": account.home,
        "USER": account.name,
        "LOGNAME": account.name,
        "SHELL": account.shell,
        "PATH": os.environ.get("PATH", _DEFAULT_PATH),
        "LC_ALL": "C.UTF-8",
    }
    return base | dict(extra)


class LocalTransport:
    """Runs commands on this host, each in a process group of its own and with a time limit.

    `folder`: where the cluster's commands lie; None: along PATH."""

    def __init__(
        self, env: Mapping[str, str], *, folder: str | None = None, command_timeout: float = 30.0
    ) -> None:
        self.files = LocalFiles()
        self._env = scrubbed(env)
        self._folder = folder
        if folder is not None:  # also for the scripts of jobs, which inherit it
            self._env["PATH"] = f"{folder}:{self._env['PATH']}"
        self._timeout = command_timeout

    def run(self, command: Command) -> Completed:
        """Run a command to its end; see `Transport.run`."""
        seconds = command.seconds if command.seconds is not None else self._timeout
        process = self._started(command, subprocess.PIPE, subprocess.PIPE)
        try:
            stdout, stderr = talk(process, command.stdin, seconds)
        except CommandLost as lost:
            raise CommandLost(f"{command.argv[0]}: {lost}") from None
        if process.returncode < 0:
            raise CommandLost(f"{command.argv[0]}: ended by signal {-process.returncode}")
        return Completed(
            process.returncode,
            stdout.decode("utf-8", "replace"),
            stderr.decode("utf-8", "replace"),
        )

    def speak(self, command: Command) -> Pipe:
        """A command to speak with over its input and output.

        Raises:
            CommandMissing: it was not run.
        """
        return Pipe(partial(self._started, command))

    def close(self) -> None:
        """Nothing is kept open."""

    def _started(self, command: Command, both: int, errors: int) -> subprocess.Popen[bytes]:
        wanted = located(command.argv[0], self._folder)
        program = shutil.which(wanted, path=self._env["PATH"])
        if program is None:
            where = self._env["PATH"] if wanted == command.argv[0] else self._folder
            raise CommandMissing(f"{command.argv[0]}: not found in {where}")
        env = self._env | dict(command.env)
        who = None if command.account is None else _other(command.account)
        if who is not None:
            env |= {"HOME": who.home, "USER": who.name, "LOGNAME": who.name, "SHELL": who.shell}
        try:
            return subprocess.Popen(
                openfiles.words(command.argv, program),
                stdin=both,
                stdout=both,
                stderr=errors,
                env=env,
                cwd=command.cwd or "/",
                start_new_session=True,
                user=None if who is None else who.uid,
                group=None if who is None else who.gid,
                extra_groups=None if who is None else who.groups,
                umask=-1 if who is None else 0o022,
            )
        except OSError as error:
            raise CommandMissing(f"{program}: {error.strerror}") from error
        except ValueError as error:  # a word with a NUL character, or not UTF-8
            raise CommandMissing(f"{program}: {error}") from error


def _other(account: str) -> accounts.Identity:
    """Who the account is; never root, whatever its name.

    Raises:
        NotAllowed: nobody may act for it.
    """
    who = accounts.identity(account)
    if who is None:
        raise NotAllowed(
            f"there is no account {account} on this host: create it, or correct `users`"
        )
    if who.uid == 0 or who.gid == 0:
        raise NotAllowed(f"{account} is root, and nothing is ever run as root")
    if os.geteuid() != 0:
        raise NotAllowed(
            f"only root can act for {account}: run the daemon as root, or set `run_as: sudo`"
        )
    return who
