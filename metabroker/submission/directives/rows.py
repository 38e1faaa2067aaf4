"""What may become of an option of another system's submit command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

from .getopt import Takes


@dataclass(frozen=True)
class Own:
    """It is an option of metabroker's own, of that name (see `cli.options`)."""

    key: str
    parse: Callable[[str], Any] = str


@dataclass(frozen=True)
class Counted:
    """It is one of those that tell together how many tasks a job has, and what each needs."""


@dataclass(frozen=True)
class Asked:
    """It is put to the job's cluster in the cluster's own words, where it has such."""


@dataclass(frozen=True)
class Command:
    """It is about the submit command alone: what that prints, and whether it waits."""


@dataclass(frozen=True)
class Kept:
    """It asks for what is so in any case. `values`: with these alone; none: whatever it says."""

    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """It is refused by its name. A site may `drop` it, unless that is `never` right."""

    why: str
    advice: str = "leave it out"
    never: bool = False


Becomes = Union[Own, Counted, Asked, Command, Kept, Refused]


@dataclass(frozen=True)
class Row:
    """One option: what it is called, whether it has a value, and what becomes of it."""

    names: tuple[str, ...]
    short: str
    takes: Takes
    becomes: Becomes


def row(called: str, becomes: Becomes) -> Row:
    """`called`: its names, as in `account A =`: a long name (with others behind `|`), a letter, and
    `=` if it has a value (`[=]`: if it may have one)."""
    names, *more = called.split()
    takes = Takes.VALUE if "=" in more else Takes.MAYBE if "[=]" in more else Takes.NOTHING
    letters = [word for word in more if "=" not in word]
    long = tuple(name for name in names.split("|") if len(name) > 1)
    return Row(long, letters[0] if letters else "" if long else names, takes, becomes)
