"""The local transport: commands as child processes, files on mounted file systems."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from metabroker import accounts, openfiles

from .base import Command, CommandLost, CommandMissing, Completed, Entry, Listed, NotAllowed
from .children import talk
from .spoken import Spoken

_MOST_TRIES = 10
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


def _entry(file: os.DirEntry[str]) -> Entry:
    """A file that is renamed while it is looked at was there: its time is not known."""
    try:
        return Entry(file.name, file.stat(follow_symlinks=False).st_mtime)
    except FileNotFoundError:
        return Entry(file.name, 0.0)


class LocalFiles:
    """Files of this host. Errors other than "not there" are `OSError`."""

    def make_folder(self, path: str) -> None:
        """Make a folder and its parent (mode 0700); fine if they are there."""
        for attempt in range(_MOST_TRIES):
            try:
                for folder in (os.path.dirname(path), path):
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(folder, 0o700)
            except FileNotFoundError:
                # `remove_tree` of a sibling may have removed the parent in between.
                if attempt == _MOST_TRIES - 1:
                    raise
            else:
                return

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one."""
        folder, name = os.path.split(path)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(temporary, 0o700 if executable else 0o600)
            os.rename(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        try:
            os.rename(old, new)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def read(self, path: str) -> bytes | None:
        """The content; None if it is not there."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(handle, "rb") as file:
            return file.read()

    def list(self, path: str) -> Sequence[Entry] | None:
        """What is in a folder; None if the folder is not there."""
        try:
            with os.scandir(path) as found:
                return [_entry(file) for file in found]
        except (FileNotFoundError, NotADirectoryError):
            return None

    def glance(self, _folders: Sequence[str], _names: Sequence[str]) -> LocalFiles:
        """The files themselves: they are near."""
        return self

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all in it, and its parent if that is empty now."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            shutil.rmtree(path)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(path))

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder; no link is followed."""
        found = []
        for folder, _, names in os.walk(path):
            for name in names:
                full = f"{folder}/{name}"
                with contextlib.suppress(FileNotFoundError):
                    seen = os.lstat(full)
                    if stat.S_ISREG(seen.st_mode):
                        modified, runs = int(seen.st_mtime), bool(seen.st_mode & stat.S_IXUSR)
                        below = os.path.relpath(full, path)
                        found.append(Listed(below, seen.st_size, modified, runs))
        return found

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on."""
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made."""
        if offset == 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        begins = os.O_CREAT | os.O_EXCL if offset == 0 else 0
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | begins
        handle = os.open(path, flags, 0o700 if executable else 0o600)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            file.seek(offset)
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]


class LocalTransport:
    """Runs commands on this host, each in a process group of its own and with a time limit."""

    def __init__(self, env: Mapping[str, str], *, command_timeout: float = 30.0) -> None:
        self.files = LocalFiles()
        self._env = scrubbed(env)
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

    def speak(self, command: Command) -> Spoken:
        """A command to speak with over its input and output.

        Raises:
            CommandMissing: it was not run.
        """

        def start(both: int, errors: int) -> subprocess.Popen[bytes]:
            return self._started(command, both, errors)

        return Spoken(start)

    def close(self) -> None:
        """Nothing is kept open."""

    def _started(self, command: Command, both: int, errors: int) -> subprocess.Popen[bytes]:
        program = shutil.which(command.argv[0], path=self._env["PATH"])
        if program is None:
            raise CommandMissing(f"{command.argv[0]}: not found in {self._env['PATH']}")
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
        raise NotAllowed(f"there is no account {account} on this host: create it, or correct users")
    if who.uid == 0 or who.gid == 0:
        raise NotAllowed(f"{account} is root: nothing is ever run for root")
    if os.geteuid() != 0:
        raise NotAllowed(
            f"only root can act for {account}: run the daemon as root, or set `run_as: sudo`"
        )
    return who
