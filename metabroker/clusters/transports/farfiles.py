"""Files of another host, by small commands; and many gates' records in one of them."""

from __future__ import annotations

import base64
import binascii
import errno
import os
from collections.abc import Callable, Sequence

from .base import Command, CommandLost, Completed, Entry, Listed
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
# Parts of files. Each goes to the very place it has, so that writing it twice does no harm.
_PUT_FIRST = 'umask 077; test -h "$1" && exit 1; rm -f -- "$1"; cat >"$1" && chmod "$2" "$1"'
_PUT = """
if test -h "$1" || ! test -f "$1"; then echo "$1: $4" >&2; exit 1; fi
dd of="$1" bs="$2" seek="$3" conv=notrunc iflag=fullblock oflag=seek_bytes status=none
"""
_GET = """
if test -h "$1"; then echo "$1: $4" >&2; exit 1; fi
test -f "$1" || { cat -- "$1" >/dev/null; exit 1; }
head -c 0 -- "$1" || exit 1
dd if="$1" bs="$2" count=1 skip="$3" iflag=fullblock,skip_bytes status=none | base64 -w 0
"""
_TREE = """
test -d "$1" || exit 0
cd -- "$1" && find . -type f -printf '%s %T@ %m %P\\0'
"""
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

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder; no link is followed."""
        told = self._done(_shell(_TREE, path))
        return [_listed(line) for line in told.split("\0") if line]

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on."""
        told = self._done(_shell(_GET, path, str(length), str(offset), os.strerror(errno.ELOOP)))
        try:
            return base64.b64decode(told, validate=True)
        except binascii.Error as error:
            raise CommandLost(f"a part of a file came garbled: {error}") from error

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made."""
        if offset == 0:
            self._done(_shell(_PUT_FIRST, path, "700" if executable else "600", stdin=content))
        elif content:
            words = (path, str(len(content)), str(offset), os.strerror(errno.ENOENT))
            self._done(_shell(_PUT, *words, stdin=content))

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


def _listed(line: str) -> Listed:
    """A line of `find`; a name that is not UTF-8 comes with marks in it, and is refused later."""
    size, modified, mode, path = line.split(" ", 3)
    return Listed(path, int(size), int(float(modified)), bool(int(mode, 8) & 0o100))


def _error(done: Completed) -> OSError:
    """What a command complains of, as the system call it made would have: its last words."""
    line = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
    word = line.rpartition(": ")[2].strip() or f"exit status {done.exit_status}"
    return OSError(number_of(word), word)
