"""Which of qsub's options users may give themselves (`--native CLUSTER:'OPTIONS'`).

qsub reads its options as getopt does: one that lacks its value takes the next word for it, and the
first word that is no option is the script. So only options with their value in the same word, and
only those that change nothing that the broker relies on, get through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Account, mail (when, to whom), priority, project; with any value.
_ANY_VALUE = frozenset("AmMpP")
_PART = re.compile(r"([A-Za-z][A-Za-z0-9_]*)=[^\s,]+")
_QUEUE = re.compile(r"[A-Za-z0-9_.-]+")  # one of another server has an @
# Attributes that are no matter of the broker's.
_ATTRIBUTES = frozenset({"group_list", "umask"})
# The broker says itself how many processors, where and how long (a cluster's `chunk`: with what).
_RESOURCES = frozenset({"mpp", "ncpus", "nodect", "nodes", "place", "select", "walltime"}) | {
    "max_walltime",
    "min_walltime",
    "soft_walltime",
}


def check_native(options: Sequence[str]) -> str | None:
    """What is wrong with a user's own options for qsub, or None."""
    return next((wrong for word in options if (wrong := _wrong(word)) is not None), None)


def _wrong(word: str) -> str | None:
    if not word.startswith("-") or word.startswith("--") or len(word) < 2:
        return f"{word!r} is not an option of qsub: write -XVALUE as one word"
    option, value = word[1], word[2:]
    if option not in _ANY_VALUE | set("lqW"):
        return f"{word!r} is set by metabroker itself, or unknown: leave it out"
    if not value.strip() or value != value.strip():
        return f"{word!r} has no value, or blanks around it: write -{option}VALUE as one word"
    if option == "q" and _QUEUE.fullmatch(value) is None:
        return f"{word!r}: a queue of this cluster's server, by its name alone"
    if option == "l":
        return _of_broker(word, value, _RESOURCES, allowed=False)
    if option == "W":
        return _of_broker(word, value, _ATTRIBUTES, allowed=True)
    return None


def _of_broker(word: str, value: str, names: frozenset[str], *, allowed: bool) -> str | None:
    """What is wrong with `name=value,name=value`."""
    for part in value.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            return f"{word!r}: write -{word[1]}name=value, without commas or blanks in the value"
        name = found[1].lower()
        if (name in names) is not allowed:
            return f"{word!r}: {name} is set by metabroker itself: leave it out"
    return None
