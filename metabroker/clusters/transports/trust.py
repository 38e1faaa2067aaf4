"""Which folders may be believed: nobody but root and the account itself can exchange what is in
them.

A gate is reached by its path, again and again, by the broker and by the component. Who can write
in a folder on the way can put another one in its place between two steps. So a gate is only made
where every folder from `/` on belongs to root or to the account, and nobody else may write in it;
where all may (mode 1777), a folder or link of one owner cannot be exchanged by another.
What such a chain leads to can be changed by root and the account alone, so it need not be looked
at again at each step. From the gate on no link is followed, and the gate is the account's.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

FOLDER = ".metabroker"
MADE_APART = f"{FOLDER}-mb-"
"""How the name of a gate begins that has no folder of gates above it."""
_MOST_LINKS = 40
ROOT_BELIEVED = 300.0
"""Seconds for which a chain of folders is not checked again."""
GATE_BELIEVED = 60.0
"""Seconds for which a gate that was our own is not checked again."""


class Unsafe(PermissionError):
    """A folder that somebody else could exchange; the text names it, and says what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EPERM, text)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a path leads to, if it is no link: whose it is, and its mode; `target` of a link."""

    uid: int
    gid: int
    mode: int
    target: str = ""


Look = Callable[[Sequence[str]], Mapping[str, Seen]]
"""What is at these paths now, no link followed; those where nothing is are left out."""
Owners = Callable[[], Collection[int]]
"""Who is believed; asked after the first look."""
Private = Callable[[str, int], bool]
"""Whether in a group, and by a list at this folder, there is nobody but the account."""


@dataclass(frozen=True, slots=True)
class SplitPath:
    """A path of the broker's: the folder `root`, which somebody chose, and the `parts` below it,
    which are the broker's own. The first `gates` of these lead to the gate, and are the account's
    alone."""

    root: str
    parts: tuple[str, ...]
    gates: int

    def at(self, count: int) -> str:
        """The path of the first so many parts."""
        return "/".join((self.root.rstrip("/"), *self.parts[:count]))


@functools.lru_cache(maxsize=1024)  # gates are looked at again and again
def split(path: str) -> SplitPath:
    """A path's root, and what is below it. A path without a gate has its last part there."""
    parts = path.split("/")
    for index, part in enumerate(parts[1:], 1):
        apart = part.startswith(MADE_APART)
        if apart or part == FOLDER or part.startswith(f"{FOLDER}-"):
            below = tuple(parts[index:])
            return SplitPath("/".join(parts[:index]) or "/", below, 1 if apart else 2)
    return SplitPath("/".join(parts[:-1]) or "/", (parts[-1],), 0)


def owned(path: str, seen: Seen, owners: Collection[int]) -> None:
    """The folder at `path` must be one, and belong to one of these; nobody else may write in it.

    Raises:
        NotADirectoryError, Unsafe: it is not so.
    """
    name = path.rpartition("/")[2]
    if stat.S_ISLNK(seen.mode):
        raise Unsafe(f"{shown(name)} has been replaced by a link")
    if not stat.S_ISDIR(seen.mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if seen.uid not in owners:
        raise Unsafe(f"{shown(name)} belongs to somebody else")
    if seen.mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unsafe(f"others may write in {shown(name)}")


def shown(name: str) -> str:
    """The name of a part without the secret in it."""
    return "its gate" if name.startswith((MADE_APART, "mb-")) else name


def is_private(own: str, group: str, passwd: str, listed: str) -> bool:
    """Whether a group is an account's own alone, as many systems make one for each user: by the
    account's name, the lines of `getent group` and `getent passwd`, and `ls -ld` of the folder,
    which marks one with a list of more users."""
    names, account = group.split(":"), passwd.split(":")
    if len(names) != 4 or len(account) < 4 or listed[10:11] in ("+", ""):
        return False
    alone = {*names[3].split(",")} <= {own, ""}
    return names[0] == own == account[0] and names[2] == account[3] and alone


def examine(root: str, look: Look, owners: Owners, private: Private) -> None:
    """Every folder on the way to `root`, and `root` itself, can be believed.

    Raises:
        Unsafe: one cannot.
        FileNotFoundError, NotADirectoryError: one is not there.
    """
    known: dict[str, Seen] = {}
    done: list[str] = []
    rest = _names(root)
    links = 0
    _judge_folder("/", _found("/", _prefixes([], rest), known, look), owners, private)
    while rest:
        name = rest.pop(0)
        if name == "..":
            done = done[:-1]
            continue
        here = "/" + "/".join((*done, name))
        seen = _found(here, _prefixes(done, [name, *rest]), known, look)
        if stat.S_ISLNK(seen.mode):
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            _judge_owner(here, seen, owners)
            rest = _names(seen.target) + rest
            done = [] if seen.target.startswith("/") else done
            continue
        _judge_folder(here, seen, owners, private)
        done.append(name)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _prefixes(done: list[str], rest: list[str]) -> list[str]:
    """The paths that come next, up to one that depends on what is found."""
    names, found = list(done), ["/"]
    for name in rest:
        if name == "..":
            break
        names.append(name)
        found.append("/" + "/".join(names))
    return found


def _found(path: str, ahead: Sequence[str], known: dict[str, Seen], look: Look) -> Seen:
    if path not in known:
        known.update(look([each for each in ahead if each not in known]))
    if path not in known:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return known[path]


def _judge_owner(path: str, seen: Seen, owners: Owners) -> None:
    if seen.uid not in owners():
        raise Unsafe(f"{path} belongs to another user, who could replace what is in it: {_ADVICE}")


def _judge_folder(path: str, seen: Seen, owners: Owners, private: Private) -> None:
    if not stat.S_ISDIR(seen.mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    _judge_owner(path, seen, owners)
    if seen.mode & stat.S_ISVTX or not seen.mode & (stat.S_IWGRP | stat.S_IWOTH):
        return
    if seen.mode & stat.S_IWOTH or not private(path, seen.gid):
        raise Unsafe(f"others may write in {path}, and could replace what is in it: {_ADVICE}")


_ADVICE = (
    "submit from a folder in which nobody else may write (see --chdir), or ask the administrator "
    "for a `shared_dir`"
)
