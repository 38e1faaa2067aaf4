"""The keys that a file's model knows: which there are at a place, and which of them take a list."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

Key = tuple[str | int, ...]


def model_at(whole: type[BaseModel], key: Sequence[str | int]) -> type[BaseModel] | None:
    """The model of the section at `key`; None if there is no section with known keys."""
    kind = kind_at(whole, key)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def takes_list(whole: type[BaseModel], key: Sequence[str | int]) -> bool:
    """Is the value of this key a list?"""
    return get_origin(kind_at(whole, key)) is tuple


def kind_at(whole: type[BaseModel], key: Sequence[str | int]) -> Any:
    """The type of a key's value, without None and annotations; None if there is no such key."""
    kind: Any = whole
    for part in key:
        kind = _inner(kind, part)
        if kind is None:
            return None
    return kind


def _inner(kind: Any, part: str | int) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(str(part))
        return None if field is None else _bare(field.annotation)
    if origin is Mapping:
        return _bare(arguments[1])
    if origin is tuple and (isinstance(part, int) or part.isdigit()):
        return _bare(arguments[0])
    return None


def _bare(kind: Any) -> Any:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        given = [argument for argument in get_args(kind) if argument is not type(None)]
        return _bare(given[0])
    return kind
