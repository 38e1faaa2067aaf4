"""Files of another host, by small commands; and many gates' records in one of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence

from .base import Command, Completed, Entry
from .glance import SCRIPT, FarGlance, number_of, read_glance

Run = Callable[[Command], Completed]

_GONE = (errno.ENOENT, errno.ENOTDIR)

# Each is one step; none goes through a link in the last part of its path. $1, $2: paths.
_MAKE = """
umask 077; parent=${1%/*}
for try in 1 2 3 4 5; do
    mkdir "$parent" 2>/dev/null
    { mkdir "$1" 2>/dev/null || test -d "$1"; } && exit 0  # a sibling's end may remove the parent
done
test -d "$parent" || mkdir "$parent" || exit 1
mkdir "$1"
"""
_WRITE = """
umask 077; new=${1%/*}/.${1##*/}.$3
cat >"$new" && chmod "$2" "$new" && mv -f -- "$new" "$1" && exit 0
rm -f -- "$new" 2>/dev/null; exit 1
"""
_RENAME = 'mv -f -- "$1" "$2"'
_READ = 'if test -h "$1"; then echo "$1: $2" >&2; exit 1; fi; od -An -v -tx1 -- "$1"'
_REMOVE = 'rm -rf -- "$1" && { rmdir -- "${1%/*}" 2>/dev/null || :; }'


class CommandFiles:
    """`Files` of the host where `run` runs commands."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def make_folder(self, path: str) -> None:
        """Make a folder and its parent (mode 0700); fine if they are there."""
        self._done(_shell(_MAKE, path))

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one."""
        words = (path, "700" if executable else "600", os.urandom(8).hex())
        self._done(_shell(_WRITE, *words, stdin=content))

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        return self._there(_shell(_RENAME, old, new)) is not None

    def read(self, path: str) -> bytes | None:
        """The content; None if it is not there."""
        told = self._there(_shell(_READ, path, os.strerror(errno.ELOOP)))
        return None if told is None else bytes.fromhex(told)

    def list(self, path: str) -> Sequence[Entry] | None:
        """What is in a folder; None if the folder is not there."""
        return self.glance([path], ()).list(path)

    def glance(self, folders: Sequence[str], names: Sequence[str]) -> FarGlance:
        """Many folders, and their files of these names, in one round trip."""
        if not folders:
            return FarGlance({})
        said = self._done(_shell(SCRIPT, str(len(names)), *names, *folders))
        return read_glance(said, folders, names)

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all in it, and its parent if that is empty now."""
        self._done(_shell(_REMOVE, path))

    def _done(self, command: Command) -> str:
        done = self._run(command)
        if done.exit_status != 0:
            raise _error(done)
        return done.stdout

    def _there(self, command: Command) -> str | None:
        """What it says; None if its file is not there."""
        try:
            return self._done(command)
        except OSError as error:
            if error.errno in _GONE:
                return None
            raise


def _shell(script: str, *words: str, stdin: bytes = b"") -> Command:
    return Command(("sh", "-c", script, "sh", *words), stdin=stdin)


def _error(done: Completed) -> OSError:
    """What a command complains of, as the system call it made would have: its last words."""
    line = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
    word = line.rpartition(": ")[2].strip() or f"exit status {done.exit_status}"
    return OSError(number_of(word), word)
