"""Patterns of results: `*`, `?` and `[...]` within a name, `**` for any folders, as in a shell."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_MOST_KEPT = 10_000  # folders that are remembered

_ANY = "**"
_State = tuple[int, int]  # of a pattern, how many pieces are taken


def pieces_of(pattern: str) -> Sequence[str]:
    """A pattern's pieces; several `**` one after another say no more than one."""
    found: list[str] = []
    for piece in pattern.strip("/").split("/"):
        if piece != _ANY or found[-1:] != [_ANY]:
            found.append(piece)
    return found


class Patterns:
    """Some patterns, for many paths. What a folder's name takes of them is found once for all that
    is in it: so a path takes no longer than there are pieces."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._pieces = [pieces_of(pattern) for pattern in dict.fromkeys(patterns)]
        start = self._closed((index, 0) for index in range(len(self._pieces)))
        self._start = frozenset((i, at) for i, at in start if at < len(self._pieces[i]))
        self._folders: dict[str, frozenset[_State] | None] = {}

    def match(self, path: str) -> bool:
        """Whether one of them matches the path, or a folder that it is in."""
        return self._after(path) is None

    def _after(self, path: str) -> frozenset[_State] | None:
        """How far the patterns are after that path; None: one has matched it, or a folder on the
        way."""
        parts = path.split("/")
        states: frozenset[_State] | None = self._start
        known = len(parts) - 1
        while known and "/".join(parts[:known]) not in self._folders:
            known -= 1
        if known:
            states = self._folders["/".join(parts[:known])]
        for count in range(known, len(parts)):
            if not states:
                break
            states = self._taken(states, parts[count])
            if count < len(parts) - 1:
                self._keep("/".join(parts[: count + 1]), states)
        return states

    def _keep(self, folder: str, states: frozenset[_State] | None) -> None:
        if len(self._folders) >= _MOST_KEPT:
            self._folders.clear()
        self._folders[folder] = states

    def _taken(self, states: frozenset[_State], name: str) -> frozenset[_State] | None:
        """How far they are after one more name."""
        after = []
        for index, at in states:
            pieces = self._pieces[index]
            if pieces[at] == _ANY:
                after.append((index, at))
            elif _name_matches(name, pieces[at]):
                after.append((index, at + 1))
        found = self._closed(after)
        return None if any(at == len(self._pieces[index]) for index, at in found) else found

    def _closed(self, states: Iterable[_State]) -> frozenset[_State]:
        """With those in which a `**` has taken no folder."""
        found = set(states)
        for index, at in list(found):
            pieces = self._pieces[index]
            if at < len(pieces) and pieces[at] == _ANY:
                found.add((index, at + 1))
        return frozenset(found)


def _name_matches(name: str, piece: str) -> bool:
    """A name that begins with a dot is matched only by a pattern that does."""
    hidden = name.startswith(".") and not piece.startswith(".")
    return not hidden and _compiled(piece).match(name) is not None


@lru_cache(maxsize=8192)
def _compiled(piece: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(piece))
