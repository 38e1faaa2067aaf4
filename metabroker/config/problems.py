"""What is wrong with a key, and what to do about it, in the words of the file's author."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from metabroker.config.errors import ConfigRefusal
from metabroker.config.keys import Key
from metabroker.config.values import shown

_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("above", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}


class Problem(NamedTuple):
    """One thing that is wrong with the key at `key`, not yet placed in a file."""

    key: Key
    message: str
    advice: str


def of_cluster(name: str, key: str, message: str, advice: str) -> Problem:
    """A problem with a key of one cluster."""
    return Problem(("clusters", name, key), message, advice)


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean ...?` with the known word nearest to `word`; empty if none is near."""
    words = list(known)
    folded = {candidate.lower(): candidate for candidate in words}
    found = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.5)
    return f"did you mean {folded[found[0]]!r}?" if found else ""


def choice(value: object, expected: str) -> tuple[str, str]:
    """Message and advice for a word that is none of the `expected` ones ('a', 'b' or 'c')."""
    words = expected.replace("'", "").replace(" or ", ", ").split(", ")
    advice = nearest(value, words) if isinstance(value, str) else ""
    one_of = f"must be {expected.replace(chr(39), '')}, not {shown(value)}"
    return one_of, advice or f"for example {words[0]}"


def of_error(
    error: ErrorDetails, key: Key, unknown: Callable[[], Problem], missing: Problem, advice: str
) -> Problem:
    """The problem that one of pydantic's errors stands for: `unknown` where the file's model has no
    such `key`, `missing` where it needs it. `advice`: where none is better."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, ConfigRefusal):
        return Problem(key, cause.message, cause.advice)
    if kind == "extra_forbidden":
        return unknown()
    if kind == "missing":
        return missing
    if kind == "literal_error":
        return Problem(key, *choice(value, context["expected"]))
    return Problem(key, *plain(kind, value, context, advice))


def unknown_key(key: Key, model: type[BaseModel]) -> Problem:
    """A key that a section of this model does not have, with the nearest one that it has."""
    known = list(model.model_fields)
    advice = nearest(str(key[-1]), known) or f"known here: {', '.join(known)}"
    return Problem(key, "unknown key", advice)


def plain(kind: str, value: object, context: Mapping[str, Any], advice: str) -> tuple[str, str]:
    """Message and advice for one of pydantic's simple errors; `advice`: where none is better."""
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        bound = context[name]
        if isinstance(bound, float) and bound.is_integer():
            bound = int(bound)
        return f"must be {words} {bound}, not {shown(value)}", "correct the number"
    if kind in ("float_type", "float_parsing", "finite_number"):
        return f"must be a number, not {shown(value)}", "write digits without quotes"
    if kind in ("int_type", "int_parsing_size"):
        return f"must be a whole number, not {shown(value)}", "write digits without quotes"
    if kind == "bool_type":
        return f"must be true or false, not {shown(value)}", "write true or false"
    if kind == "string_type":
        return f"must be text, not {shown(value)}", "put it in quotes"
    if kind in ("model_type", "dict_type", "mapping_type", "model_attributes_type"):
        return f"must be a mapping of keys, not {shown(value)}", "write `key: value` lines below it"
    if kind == "tuple_type":
        return f"must be a list, not {shown(value)}", "write [a, b] or one `- item` per line"
    if kind == "too_short":
        return "is empty: there must be at least one cluster", "add a cluster"
    if kind in ("string_pattern_mismatch", "string_too_short", "string_too_long"):
        return f"{shown(value)} is not a name that a cluster knows", "use letters, digits, _ . -"
    return f"is not right: {shown(value)}", advice
