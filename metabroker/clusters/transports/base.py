"""What a transport offers: commands and files, on this host or on another."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


class CommandLost(Exception):
    """A command's outcome is not known: it hung, was cut off, or its connection broke."""


class CommandMissing(Exception):
    """The command cannot be run at all: it is not there, or may not be executed."""


class NotAllowed(CommandMissing):
    """The command was not run, since we may not act for its account; the text says what to do."""


class Unreached(CommandMissing):
    """The command was not run, since its host cannot be reached; the text says what to do."""


MOST_OUTPUT = 64 << 20
"""Bytes of one output of a command: one that says more is ended, and its outcome not known."""

MOST_BYTES = 65536
"""Of a file that is read whole: records are short."""
MOST_ENTRIES = 10_000
"""Of a folder that is listed. What a folder has more is left out, but these names are not:"""
LOOKED_FOR = (
    *("wait", "armed", "go", "run", "abort"),
    *("arrived", "ready", "started", "begun", "ended"),
)
"""A gate's positions in the order in which they follow another, and the component's records."""
MOST_FILES = 100_000
"""Of a component's work folder, whatever they are."""
REMOVING = 20.0
"""Seconds that removing a folder takes at most; the rest is done next time."""
MOST_DEPTH = 100
"""Of folders in a component's work folder."""


class TooMany(OSError):
    """There is more than the broker takes; the text says what."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EFBIG, text)


OF_THE_HOST = frozenset({"sh", "date", "sudo", "getent", "id", "ls"})
"""Programs of the host itself. All others are the cluster's own commands, which `bin` names."""


def located(program: str, folder: str | None) -> str:
    """The program to run. With a `folder` (the cluster's `bin`) the cluster's commands come from
    there and from nowhere else: one of the same name elsewhere in PATH may be of another release,
    or of another cluster."""
    if folder is None or "/" in program or program in OF_THE_HOST:
        return program
    return f"{folder.rstrip('/')}/{program}"


@dataclass(frozen=True, slots=True)
class Command:
    """One command: an argument vector, never a line for a shell. `seconds` bounds it;
    `env` is added to the transport's environment; `account`: whose process it is to be, None for
    the one that commands run under anyway."""

    argv: tuple[str, ...]
    stdin: bytes = b""
    seconds: float | None = None
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    account: str | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command said."""

    exit_status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file in a directory: its name and when it was last modified, in Unix seconds."""

    name: str
    modified: float


@dataclass(frozen=True, slots=True)
class Listed:
    """A regular file below a folder: its path from there, its size in bytes, when it was last
    modified in whole Unix seconds, and whether its owner may execute it."""

    path: str
    size: int
    modified: int
    executable: bool = False


LONGEST = 300
"""Characters of an answer that are passed on."""


def first_line(text: str) -> str:
    """The first line that says something, shortened."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:LONGEST]


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it does not say why"


class BulkRead(Protocol):
    """Folders and small files as they are, or as they were in one moment."""

    def read(self, path: str) -> bytes | None:
        """The content, up to `MOST_BYTES`; None if it is not there. `OSError` (ELOOP) where it is
        no regular file."""

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder, up to `MOST_ENTRIES`; None if the folder is not there. Names that
        are not UTF-8 are left out."""


class Files(BulkRead, Protocol):
    """The few things the gate does with files; each is one step. None follows a symbolic link
    below the root of its path (see `trust`), and none waits for a pipe.

    Raises:
        OSError: that cannot be done, and is not done.
        CommandLost: whether it is done is not known.
        Unreached: it is not done, since their host cannot be reached.
    """

    def bulk_read(self, folders: Sequence[str], names: Sequence[str]) -> BulkRead:
        """Many folders, and their files of these names, in one round trip to their host."""

    def is_there(self, path: str) -> bool | None:
        """Whether something is there, where that costs less than `list`; None: ask that."""

    def make_folder(self, path: str) -> bool:
        """Make a folder, and those between its root and it (mode 0700); fine if they are there.
        True: it was not there; False: it was, or that is not known.

        Raises:
            Unsafe: others could exchange it, or it is not our own; see `trust`.
        """

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one."""

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all in it, and the folder of gates that it is in if that is empty
        now."""

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder, in no order; no link is followed. None of a folder
        that is not there.

        Raises:
            TooMany: there are more than the broker takes.
        """

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on; fewer only at its end."""

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made; the part at 0 begins it again (mode 0600 or
        0700), any other wants it to be there."""


class Transport(Protocol):
    """Runs commands; offers files."""

    @property
    def files(self) -> Files:
        """The files that the cluster's nodes share with it."""

    def run(self, command: Command) -> Completed:
        """Run a command to its end.

        Raises:
            CommandLost: whether it did anything is not known.
            CommandMissing: it was not run (`Unreached`: since nothing can be run there now).
        """

    def close(self) -> None:
        """Release connections."""


@runtime_checkable
class RunAs(Protocol):
    """A transport that also runs commands as other accounts (`Command.account`)."""

    def files_of(self, account: str) -> Files:
        """The files as that account sees them."""

    def home_of(self, account: str) -> str:
        """The account's home there.

        Raises:
            NotAllowed: there is no such account.
            CommandLost, CommandMissing: it cannot be asked now.
        """
