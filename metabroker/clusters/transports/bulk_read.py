"""One look at many folders of another host: a script for its shell, and what that says.

It says which names are in each folder (as one reading of the folder tells them: a file that is
renamed meanwhile is under its old name or its new one), then when each was last changed, then what
stands in the wanted files. It needs GNU find and head, whatever the number of folders once each.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .base import LOOKED_FOR, MOST_ENTRIES, CommandLost, FolderEntry
from .trust import Unsafe

EXCHANGED = "a link or another user's folder is in the place of the gate"
# Whether a gate is one: no link, and our own or root's.
OWN = f"""
mb_is_own() {{
    test ! -h "$1" || return 1
    test -O "$1" || test ! -e "$1" || test "$(stat -c %u -- "$1" 2>/dev/null)" = 0
}}
mb_own() {{ mb_is_own "$1" || {{ echo "gate: {EXCHANGED}" >&2; exit 1; }}; }}
mb_real() {{ test ! -h "$1" || {{ echo "gate: {EXCHANGED}" >&2; exit 1; }}; }}
"""
# $1: how many names, then the names, then the folders. Contents are of 64 kB at most. Of a folder
# with very many files only the names in `known` are told, in that order.
SCRIPT = (
    OWN
    + rf"""
known='{" ".join(LOOKED_FOR)}'; most={MOST_ENTRIES}; why_exchanged="{EXCHANGED}"
"""
    + r"""
count=$1; shift; names=; total=0
while test $total -lt $count; do names="$names $1"; shift; total=$((total + 1)); done
enter() {
    why=
    case $1 in
        */.metabroker*/*) mb_is_own "${1%/*}" && mb_is_own "$1" || why=": $why_exchanged" ;;
        */.metabroker*) mb_is_own "$1" || why=": $why_exchanged" ;;
    esac
    test -z "$why" || return
    cd -- "$1" 2>/dev/null && return
    why=$(LC_ALL=C ls -d -- "$1/" 2>&1 >/dev/null)
    test -z "$why" && cd -- "$1" 2>/dev/null  # it has come meanwhile, or may not be entered
}
n=0; total=$#
while test $n -lt $total; do
    folder=$1; shift
    if enter "$folder"; then
        set -- "$@" "$folder"
        printf 'D %s\0' "$n"
        seen=0
        for file in .[!.]* *; do
            case $file in '*' | '.[!.]*') ;; *) printf 'N %s\0' "$file" ;; esac
            seen=$((seen + 1))
            test $seen -lt $most || break
        done
        if test $seen -ge $most; then
            printf 'M\0'
            for file in $known; do if test -e "$file"; then printf 'N %s\0' "$file"; fi; done
        fi
        for name in $names; do
            if test -h "$name" || { test -e "$name" && test ! -f "$name"; }; then
                printf 'L %s\0' "$name"
            fi
        done
    else
        printf 'X %s %s\0' "$n" "${why:-: Permission denied}"
    fi
    n=$((n + 1))
done
cd /
if test $# -gt 0; then
    find "$@" -mindepth 1 -maxdepth 1 '(' -name wait EXPRESSION ')' -printf 'T %T@ %p\0' 2>/dev/null
fi
printf 'C\0'
total=$#; n=0
while test $n -lt $total; do
    folder=$1; shift
    for name in $names; do
        if test -f "$folder/$name" && test ! -h "$folder/$name"; then
            set -- "$@" "$folder/$name"
        fi
    done
    n=$((n + 1))
done
if test $# -gt 0; then head -v -c 65536 -- "$@" 2>/dev/null; fi
echo E
""".replace("EXPRESSION", " ".join(f"-o -name {name}" for name in LOOKED_FOR[1:]))
)

_NUMBERS = {os.strerror(number): number for number in errno.errorcode}
_NUMBERS["Directory nonexistent"] = errno.ENOENT  # a small shell's own word for it


def number_of(word: str) -> int:
    """The number of an error that a command tells in words."""
    return _NUMBERS.get(word, errno.EIO)


def error_of(word: str) -> OSError:
    """The error that a command tells in words."""
    return Unsafe(word) if word == EXCHANGED else OSError(number_of(word), word)


@dataclass(slots=True)
class Folder:
    """One folder; `error`: why it could not be read."""

    names: list[str] = field(default_factory=list)
    times: dict[str, float] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    error: OSError | None = None


class RemoteBulkRead:
    """Folders and some of their files, as they were when they were looked at."""

    def __init__(self, folders: dict[str, Folder]) -> None:
        self._folders = folders

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """What is in a folder; None if the folder is not there."""
        found = self._folder(path)
        if found is None:
            return None
        return [FolderEntry(name, found.times.get(name, 0.0)) for name in found.names]

    def read(self, path: str) -> bytes | None:
        """The content; None if it is not there."""
        folder, _, name = path.rpartition("/")
        found = self._folder(folder)
        if found is None:
            return None
        if name in found.links:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return found.contents.get(name)

    def _folder(self, path: str) -> Folder | None:
        found = self._folders.get(path)
        if found is not None and found.error is not None:
            raise found.error
        return found


def read_look(said: str, folders: Sequence[str], names: Sequence[str]) -> RemoteBulkRead:
    """What the script said. Raises `CommandLost` where that is something else."""
    found: dict[str, Folder] = {}
    current = Folder()
    record, _, rest = said.partition("\0")
    try:
        while record != "C":
            kind, _, word = record.partition(" ")
            if kind == "D":
                current = found[folders[int(word)]] = Folder()
            elif kind == "N" and "\ufffd" not in word:  # a name that is no text
                current.names.append(word)
            elif kind == "N":
                pass
            elif kind == "M":
                current.names.clear()
            elif kind == "L":
                current.links.add(word)
            elif kind == "X":
                number, _, complaint = word.partition(" ")
                _absent(folders[int(number)], complaint, found)
            elif kind == "T":
                _changed(word, found)
            else:
                raise ValueError(f"{kind!r} is no record")
            record, _, rest = rest.partition("\0")
    except (IndexError, ValueError) as error:
        raise CommandLost(f"the records of the gates cannot be read: {error}") from error
    if not rest.endswith("E\n"):
        raise CommandLost("the records of the gates end in the middle")
    wanted = [f"{folder}/{name}" for folder in found for name in names]
    for path, content in _contents(rest.removesuffix("E\n"), wanted):
        folder, _, name = path.rpartition("/")
        found[folder].contents[name] = content.encode()
    return RemoteBulkRead(found)


def _absent(folder: str, complaint: str, found: dict[str, Folder]) -> None:
    """It could not be entered. Anything but its absence says nothing of it: it is not to be taken
    for gone."""
    word = complaint.rpartition(": ")[2].strip()
    if number_of(word) not in (errno.ENOENT, errno.ENOTDIR):
        found[folder] = Folder(error=error_of(word))


def _changed(word: str, found: dict[str, Folder]) -> None:
    moment, _, path = word.partition(" ")
    folder, _, name = path.rpartition("/")
    if folder in found:
        found[folder].times[name] = float(moment)


def _contents(text: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What `head -v` said of each file."""
    if not paths:
        return
    header = re.compile(rf"(?:\A|\n)==> ({'|'.join(map(re.escape, paths))}) <==\n")
    parts = header.split(text)
    yield from zip(parts[1::2], parts[2::2], strict=True)
