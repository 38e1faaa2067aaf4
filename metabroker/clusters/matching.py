"""Patterns of results: `*`, `?` and `[...]` within a name, `**` for any folders, as in a shell."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether one of the patterns matches a relative path, or a folder that it is in."""
    parts = path.split("/")
    ends = range(1, len(parts) + 1)
    return any(
        _matches(parts[:end], pattern.strip("/").split("/")) for pattern in patterns for end in ends
    )


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Part by part; a table and no recursion, since a pattern may hold `**` many times."""
    reached = {0}  # how many parts the pattern so far may have taken
    for piece in pattern:
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {
                at + 1 for at in reached if at < len(parts) and _name_matches(parts[at], piece)
            }
    return len(parts) in reached


def _name_matches(name: str, piece: str) -> bool:
    """A name that begins with a dot is matched only by a pattern that does."""
    hidden = name.startswith(".") and not piece.startswith(".")
    return not hidden and fnmatch.fnmatchcase(name, piece)
