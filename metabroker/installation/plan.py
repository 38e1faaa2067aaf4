"""What is to be done with each file: decided before anything is written.

The list of installed files (`files.LIST`) has the digest of each one as it was written. A file that
is not in it, or is no longer what it says, is somebody else's: it is never written over, nor
removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from .files import File


class Do(Enum):
    """What becomes of a file."""

    WRITE = "writes"
    UPDATE = "updates"
    SAME = "has already"
    REMOVE = "removes"
    KEEP = "keeps"
    """It is to be removed, but is another one by now."""
    GONE = "misses"
    """It is to be removed, and not there."""
    REFUSE = "leaves"
    """It is to be written, but there is another one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One file, and what becomes of it."""

    path: PurePosixPath
    do: Do
    file: File | None = None


Look = Callable[[PurePosixPath], File | None]
"""What is at a path now; None: nothing."""


def digest(file: File) -> str:
    """What tells a file from any other."""
    if file.link is not None:
        return f"-> {file.link}"
    return hashlib.sha256(file.text.encode(errors="surrogateescape")).hexdigest()


def installation(
    wanted: Mapping[PurePosixPath, File], installed: Mapping[str, str], look: Look
) -> list[Step]:
    """Write what is wanted, and remove what an older version had installed besides."""
    steps = [_placed(path, file, installed, look(path)) for path, file in wanted.items()]
    old = {path: known for path, known in installed.items() if PurePosixPath(path) not in wanted}
    return steps + removal(old, look)


def removal(installed: Mapping[str, str], look: Look) -> list[Step]:
    """Remove what was installed, and is as it was."""
    steps = []
    for name, known in sorted(installed.items()):
        found = look(PurePosixPath(name))
        do = Do.GONE if found is None else Do.REMOVE if digest(found) == known else Do.KEEP
        steps.append(Step(PurePosixPath(name), do))
    return steps


def _placed(
    path: PurePosixPath, file: File, installed: Mapping[str, str], found: File | None
) -> Step:
    if found is None:
        return Step(path, Do.WRITE, file)
    if digest(found) == digest(file):
        return Step(path, Do.SAME, file)
    ours = installed.get(str(path)) == digest(found)
    return Step(path, Do.UPDATE if ours else Do.REFUSE, file)
