"""Types of columns that take whatever they are given: what one job says never keeps a transaction
from being written, in SQLite or PostgreSQL.

Submissions with such text are refused, and what clusters tell is checked before (`broker.sound`).
This is the last place, for whatever has come by another way.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Float, Integer, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

LARGEST = 2**63 - 1
_SHORT = 64  # characters
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Words(TypeDecorator[str]):
    """Text without NUL characters and half characters."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else cleaned(value)


class Int64(TypeDecorator[int]):
    """A whole number of at most 64 bits: any larger one is as large as that."""

    # SQLite's numbers are as large as that by themselves.
    impl = Integer().with_variant(BigInteger(), "postgresql")
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        return None if value is None else max(-LARGEST, min(value, LARGEST))


class Moment(TypeDecorator[float]):
    """A number that is finite: SQLite takes none for no value."""

    impl = Float
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        if value is None:
            return None
        try:
            number = float(value)
        except OverflowError:
            return float(LARGEST)
        return number if math.isfinite(number) else 0.0


def cleaned(given: str) -> str:
    """Without NUL characters and half characters, which texts in a database cannot have."""
    if given.isascii():
        return given.replace("\0", _REPLACEMENT) if "\0" in given else given
    return given.replace("\0", _REPLACEMENT).encode("utf-8", "replace").decode("utf-8")


def serialized(value: Any) -> str:
    """JSON that either database takes, and can look into."""
    try:
        made = json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_plain(value))
    if "\\u0000" in made or "\\ud" in made:
        return json.dumps(_plain(value), ensure_ascii=False)
    return made


def parsed(text: str) -> Any:
    """What `serialized` has made. Requests of jobs are mostly alike, so short lists (and null) are
    read once."""
    if len(text) > _SHORT or text[:1] not in "[n":
        return json.loads(text)
    known = _short(text)
    return list(known) if isinstance(known, tuple) else json.loads(text) if known else None


@lru_cache(maxsize=4096)
def _short(text: str) -> tuple[Any, ...] | bool:
    """A list of plain things as a tuple; False: it is null; True: it is something else."""
    found = json.loads(text)
    if isinstance(found, list) and not any(isinstance(each, list | dict) for each in found):
        return tuple(found)
    return found is not None


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
