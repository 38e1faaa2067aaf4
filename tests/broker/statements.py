"""Statements that are compiled once for all the stores that a thousand tests open one by one;
SQLAlchemy keeps what it has compiled for each engine apart."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sqlalchemy import Engine


class _OfAnyEngine(dict[Any, Any]):
    """By the statement alone: the dialect, which comes first in a key, is another object for each
    engine, and these are all of one kind."""

    def get(self, key: tuple[Hashable, ...], default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Hashable, ...], value: Any) -> None:
        super().__setitem__(key[1:], value)


_COMPILED = _OfAnyEngine()


def compile_once(engine: Engine) -> None:
    """This one of SQLite takes what others have compiled, and adds to it."""
    engine.update_execution_options(compiled_cache=_COMPILED)
