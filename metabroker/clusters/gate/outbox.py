"""What a component has put for the others: one small file, whose name tells its version.

It is a user's to write, by `metabroker-exchange` or by hand. Of what is carried into other
clusters no more can come than the keys and lines that it may have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from metabroker.clusters.transports.base import MOST_BYTES

_OUTBOX = re.compile(r"out\.([1-9][0-9]{0,14})")
_KEY = re.compile(rb":[A-Za-z0-9_.-]{1,64}")
MOST_KEYS = 256


class Malformed(ValueError):
    """An outbox that cannot be carried; the text says why."""


def name_of(version: int) -> str:
    """The name of an outbox of this version."""
    return f"out.{version}"


def inbox_of(sender: str) -> str:
    """The name of what a component has put, in the gates of the others: those of its own job call
    it by its number, those of others by `JOB.COMPONENT`."""
    return f"in.{sender}"


def newest(names: Iterable[str]) -> int:
    """The newest version in a gate; 0: its component has put nothing."""
    version = 0
    for name in names:
        if name.startswith("out.") and (told := _OUTBOX.fullmatch(name)) is not None:
            version = max(version, int(told[1]))
    return version


def checked(content: bytes) -> bytes:
    """What of an outbox is carried: keys, and lines of text below them.

    Raises:
        Malformed: it is none.
    """
    if len(content) >= MOST_BYTES:
        raise Malformed(f"it has {MOST_BYTES} bytes or more")
    if b"\0" in content:
        raise Malformed("there is a NUL in it")
    lines = content.split(b"\n")
    if lines.pop() or not lines:
        raise Malformed("its last line has no end")
    keys = 0
    for number, line in enumerate(lines, 1):
        if _KEY.fullmatch(line):
            keys += 1
        elif not (keys and line.startswith(b" ")):
            raise Malformed(f"line {number} is neither a key nor a value's")
    if keys > MOST_KEYS:
        raise Malformed(f"it has more than {MOST_KEYS} keys")
    return content
