"""Files of another host, by small commands; and many gates' records in one of them."""

from __future__ import annotations

import base64
import binascii
import errno
import os
import shlex
import stat
import time
from collections.abc import Callable, Sequence

from .base import MOST_FILES, Command, CommandLost, Completed, FolderEntry, Listed, TooMany
from .bulk_read import OWN, SCRIPT, RemoteBulkRead, error_of, read_look
from .trust import ROOT_BELIEVED, Seen, examine, is_private, split

Run = Callable[[Command], Completed]

_GONE = (errno.ENOENT, errno.ENOTDIR)
_TYPES = {"d": stat.S_IFDIR, "l": stat.S_IFLNK}
_MOST_BELIEVED = 4096  # folders whose ways are remembered as sound
_MOST_TOLD = 32_000_000  # bytes of what a tree is told in

# Each is one step. None goes through a link in the last part of its path, nor, since the gate is
# looked at before (`OWN`), below the root of it. $1, $2: paths.
_LOOK = """
id -u; printf '\\0'
find "$@" -maxdepth 0 -printf '%p\\0%U %G %m %y\\0%l\\0' 2>/dev/null
exit 0
"""
_PRIVATE = 'id -un; getent group "$2" || echo; getent passwd "$(id -u)" || echo; ls -ld -- "$1"'
_MAKE = """
umask 077; parent=${1%/*}
for try in 1 2 3 4 5; do
    if test "$2" = old; then mkdir "$parent" 2>/dev/null; fi
    { mkdir "$1" 2>/dev/null || test -d "$1"; } && break  # a sibling's end may remove the parent
done
test -d "$1" || mkdir "$1" || exit 1
mb_own "$1"
"""
_WRITE = """
umask 077; new=${1%/*}/.${1##*/}.$3
cat >"$new" && chmod "$2" "$new" && mv -f -- "$new" "$1" && exit 0
rm -f -- "$new" 2>/dev/null; exit 1
"""
_RENAME = """
if test -e "$1" && ! test -d "$1" && test -d "$2"; then echo "$2: $3" >&2; exit 1; fi
mv -f -T -- "$1" "$2"
"""
_PLAIN = (
    'if test -h "$1" || { test -e "$1" && test ! -f "$1"; }; then echo "$1: $2" >&2; exit 1; fi'
)
_READ = f'{_PLAIN}; test -e "$1" || {{ cat -- "$1"; exit 1; }}; od -An -v -tx1 -N 65536 -- "$1"'
# Parts of files. Each goes to the very place it has, so that writing it twice does no harm.
_PUT_FIRST = 'umask 077; test -h "$1" && exit 1; rm -f -- "$1"; cat >"$1" && chmod "$2" "$1"'
_PUT = """
if test -h "$1" || ! test -f "$1"; then echo "$1: $4" >&2; exit 1; fi
dd of="$1" bs="$2" seek="$3" conv=notrunc iflag=fullblock oflag=seek_bytes status=none
"""
_GET = f"""
{_PLAIN}
head -c 0 -- "$1" || exit 1
dd if="$1" bs="$3" count=1 skip="$4" iflag=fullblock,skip_bytes status=none | base64 -w 0
"""
_TREE = """
test -d "$1" || exit 0
cd -- "$1" || exit 1
{ find . -type f -printf '%s %T@ %m %P\\0'; printf '%s\\0' "$?"; } | head -z -n "$2" | head -c "$3"
"""
_REMOVE = 'rm -rf -- "$1" || exit 1; if test "$2" = old; then rmdir -- "${1%/*}" 2>/dev/null; fi; :'


class CommandFiles:
    """`Files` of the host where `run` runs commands."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._believed: dict[str, float] = {}

    def make_folder(self, path: str) -> bool:
        """Make a folder, and those between its root and it (mode 0700); fine if they are there."""
        way = split(path)
        self._believe(way.root)
        self._done(_guarded(_MAKE, path, "old" if way.gates == len(way.parts) == 2 else ""))
        return False

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """Write a file whole: readers see the old one or the new one."""
        words = (path, "700" if executable else "600", os.urandom(8).hex())
        self._done(_guarded(_WRITE, *words, stdin=content))

    def rename(self, old: str, new: str) -> bool:
        """Rename in one step; False if `old` is not there."""
        words = (old, new, os.strerror(errno.EISDIR))
        return self._there(_guarded(_RENAME, *words, guard=(old, new))) is not None

    def read(self, path: str) -> bytes | None:
        """The content; None if it is not there."""
        told = self._there(_guarded(_READ, path, os.strerror(errno.ELOOP)))
        return None if told is None else bytes.fromhex(told)

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder; None if the folder is not there."""
        return self.bulk_read([path], ()).list(path)

    def bulk_read(self, folders: Sequence[str], names: Sequence[str]) -> RemoteBulkRead:
        """Many folders, and their files of these names, in one round trip."""
        if not folders:
            return RemoteBulkRead({})
        said = self._done(_shell(SCRIPT, str(len(names)), *names, *folders))
        return read_look(said, folders, names)

    def is_there(self, _path: str) -> bool | None:
        """See `Files.is_there`: each costs a command."""
        return None

    def remove_tree(self, path: str) -> None:
        """See `Files.remove_tree`."""
        way = split(path)
        old = "old" if way.gates == len(way.parts) == 2 else ""
        self._done(_guarded(_REMOVE, path, old, guard=(f"{path}/",)))

    def tree(self, path: str) -> Sequence[Listed]:
        """The regular files below a folder; no link is followed."""
        most = (str(MOST_FILES + 1), str(_MOST_TOLD))
        told = self._done(_guarded(_TREE, path, *most, guard=(f"{path}/",)))
        if not told:
            return []
        *files, last = told.removesuffix("\0").split("\0")
        if len(files) >= MOST_FILES or len(told) >= _MOST_TOLD // 4:
            raise TooMany(f"there are more than {MOST_FILES:,} files in it")
        if last != "0":
            raise OSError(errno.EIO, "some of its folders cannot be read")
        return [_listed(line) for line in files]

    def get(self, path: str, offset: int, length: int) -> bytes:
        """So many bytes of a file from `offset` on."""
        words = (path, os.strerror(errno.ELOOP), str(length), str(offset))
        told = self._done(_guarded(_GET, *words))
        try:
            return base64.b64decode(told, validate=True)
        except binascii.Error as error:
            raise CommandLost(f"a part of a file arrived garbled: {error}") from error

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """Write a part of a file that is being made."""
        if offset == 0:
            self._done(_guarded(_PUT_FIRST, path, "700" if executable else "600", stdin=content))
        elif content:
            words = (path, str(len(content)), str(offset), os.strerror(errno.ENOENT))
            self._done(_guarded(_PUT, *words, stdin=content))

    def _believe(self, root: str) -> None:
        """Look whether the way to a folder can be believed; what can stays so, and is not looked
        at each time."""
        now = time.monotonic()
        if self._believed.get(root, 0.0) <= now:
            if len(self._believed) >= _MOST_BELIEVED:
                self._believed.clear()
            examine(root, self._look, self._owners, self._private)
            self._believed[root] = now + ROOT_BELIEVED

    _own = -1

    def _owners(self) -> frozenset[int]:
        return frozenset({0, self._own})

    def _look(self, paths: Sequence[str]) -> dict[str, Seen]:
        said = self._done(_shell(_LOOK, *paths))
        own, *fields = said.split("\0")
        try:
            self._own = int(own)
            found = {}
            for path, word, target in zip(*(fields[at:-1:3] for at in range(3)), strict=True):
                uid, gid, mode, kind = word.split()
                full = int(mode, 8) | _TYPES.get(kind, stat.S_IFREG)
                found[path] = Seen(int(uid), int(gid), full, target)
        except ValueError as error:
            raise CommandLost(
                f"the answer about the path to a folder is garbled: {error}"
            ) from error
        return found

    def _private(self, path: str, gid: int) -> bool:
        lines = self._done(_shell(_PRIVATE, path, str(gid))).splitlines()
        return len(lines) == 4 and is_private(*lines)

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


def _guarded(
    script: str, *words: str, stdin: bytes = b"", guard: Sequence[str] | None = None
) -> Command:
    """The script, once it is seen that the gates that its paths lead through are our own, and that
    there is no link below them. `guard`: these paths, else that of the first word."""
    checks = []
    for path in words[:1] if guard is None else guard:
        way = split(path)
        for count in range(1, len(way.parts)):
            word = "mb_own" if count <= way.gates else "mb_real"
            if way.gates:
                checks.append(f"{word} {shlex.quote(way.at(count))}\n")
    return _shell(f"{OWN}{''.join(checks)}{script}", *words, stdin=stdin)


def _listed(line: str) -> Listed:
    """A line of `find`; a name that is not UTF-8 comes with marks in it, and is refused later."""
    size, modified, mode, path = line.split(" ", 3)
    return Listed(path, int(size), int(float(modified)), bool(int(mode, 8) & 0o100))


def _error(done: Completed) -> OSError:
    """What a command complains of, as the system call it made would have: its last words."""
    line = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
    word = line.rpartition(": ")[2].strip() or f"exit status {done.exit_status}"
    return error_of(word)
