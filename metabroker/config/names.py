"""`names` of a cluster: what partitions, accounts and the like of scripts are called there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator

from metabroker.config import values
from metabroker.config.errors import ConfigRefusal
from metabroker.config.section import Section
from metabroker.submission.directives.rows import Refused
from metabroker.submission.native.asked import row_of

_WRITE = "write for example {short: debug, long: batch}, or `same`"
_LONGEST = 255


def _table(value: object) -> object:
    if value is None or value == "same":
        return value
    if not isinstance(value, Mapping):
        raise ConfigRefusal(f"must be a mapping or `same`, not {values.shown(value)}", _WRITE)
    return {_word(name): None if own is None else _word(own) for name, own in value.items()}


def _left_out(value: object) -> object:
    found = _table(value)
    if found == "same" or (isinstance(found, Mapping) and any(found.values())):
        why = "a cluster of this system has no such names: they can only be left out"
        raise ConfigRefusal(why, "write null for each name, for example {'*': null}")
    return found


def _word(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    plain = isinstance(value, str) and 0 < len(value) <= _LONGEST
    if not isinstance(value, str) or not plain or not value.isascii() or set(value) & set(" ,=\"'"):
        raise ConfigRefusal(f"{values.shown(value)} is not a name", _WRITE)
    return value


NameTable = Annotated[Mapping[str, str | None] | Literal["same"] | None, BeforeValidator(_table)]
LeftOut = Annotated[Mapping[str, None] | None, BeforeValidator(_left_out)]


class _Names(Section):
    """Names in scripts, and what they are there; null: the option is left out there. `*`: all
    others; same: each means itself. A job goes only where all its names are known."""


class SlurmNames(_Names):
    """The names that Slurm has."""

    partition: NameTable = None
    """of `--partition`, and of `-q` in PBS's words; null: the one of `partition` alone"""
    account: NameTable = None
    """of `--account`; null: the one of `account` alone"""
    qos: NameTable = None
    """of `--qos`; null: the one of `qos` alone"""
    constraint: NameTable = None
    """of the features in `--constraint`; null: there are none"""
    wckey: NameTable = None
    """of `--wckey`; null: there are none"""
    project: LeftOut = None
    """of `-P` in PBS's words, which Slurm has not"""


class PBSNames(_Names):
    """The names that OpenPBS has."""

    queue: NameTable = None
    """of `-q`, and of `--partition` in Slurm's words; null: the one of `queue` alone"""
    account: NameTable = None
    """of `-A`; null: the one of `account` alone"""
    project: NameTable = None
    """of `-P`; null: the one of `project` alone"""
    qos: LeftOut = None
    """of `--qos`, which PBS has not"""
    constraint: LeftOut = None
    """of `--constraint`, which PBS has not"""
    wckey: LeftOut = None
    """of `--wckey`, which PBS has not"""


class AnyNames(_Names):
    """A simulated cluster knows all names, and does nothing about them."""

    partition: NameTable = None
    """of `--partition`; null: there are none"""
    account: NameTable = None
    """of `--account`; null: there are none"""
    qos: NameTable = None
    """of `--qos`; null: there are none"""
    constraint: NameTable = None
    """of the features in `--constraint`; null: there are none"""
    wckey: NameTable = None
    """of `--wckey`; null: there are none"""
    project: NameTable = None
    """of `-P` in PBS's words; null: there are none"""


def droppable(names: tuple[str, ...]) -> tuple[str, ...]:
    """Options of sbatch and qsub that may be left out of users' jobs. Raises `ConfigRefusal`."""
    for name in names:
        row = row_of(name)
        if row is None:
            advice = "write it without dashes, as in [wckey, mail-type]"
            raise ConfigRefusal(f"{values.shown(name)} is no option of sbatch or qsub", advice)
        if isinstance(row.becomes, Refused) and row.becomes.never:
            raise ConfigRefusal(f"{name} cannot be left out: {row.becomes.why}", "remove it")
    return names
