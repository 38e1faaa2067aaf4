"""`--set KEY=VALUE`: values that stand in no file, and lists of them that make a sweep."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metabroker.config.errors import ConfigError, ConfigErrors
from metabroker.config.keys import Key, kind_at, takes_list
from metabroker.config.yaml_nodes import Document, NotYaml

from .explain import unknown
from .model import TABLES, Scenario

MOST_RUNS = 10_000
"""Runs of one sweep; more are a slip of the pen."""

_FILES: tuple[Key, ...] = (
    ("workload", "swf", "file"),
    ("workload", "synthetic", "total_sizes"),
    ("workload", "runtimes", "table"),
)


class Override(NamedTuple):
    """One `--set`: its key, and its value, or, `swept`, the values that are tried in turn."""

    key: Key
    values: tuple[Any, ...]
    swept: bool

    @property
    def name(self) -> str:
        """The key as it was written."""
        return ".".join(map(str, self.key))


def parse(text: str) -> Override:
    """An override from `KEY=VALUE`, with VALUE in YAML.

    A list for a key that does not take one (or a list of lists for one that does) is swept.
    Relative paths start at the current folder. Raises ConfigErrors naming the option.
    """
    name, sign, value = text.partition("=")
    key = _key(name.strip().split("."))
    option = f"--set {name.strip()}"
    if not sign or not name.strip():
        raise _wrong(f"--set {text[:60]}", "is not KEY=VALUE", "write for example --set policy=GS")
    if kind_at(Scenario, key) is None:
        first = next(n for n in range(1, len(key) + 1) if kind_at(Scenario, key[:n]) is None)
        raise _wrong(option, *unknown(key[:first])[1:])
    try:
        document = Document(value.encode("utf-8", "surrogatepass"), option)
    except NotYaml as error:
        raise _wrong(option, error.error.message, error.error.advice) from error
    if document.duplicates:
        raise _wrong(option, "a key is given twice", "remove one of the two")
    return _override(key, document.data, option)


def _key(words: list[str]) -> Key:
    """The parts of a dotted key; items of lists are numbers, and clusters may be called so."""
    if words[0] == "clusters":
        return tuple(words)
    number = re.compile(r"[0-9]{1,6}")
    return tuple(int(word) if number.fullmatch(word) else word for word in words)


def _override(key: Key, value: Any, option: str) -> Override:
    swept = isinstance(value, list)
    if takes_list(Scenario, key):
        swept = isinstance(value, list) and bool(value) and all(isinstance(v, list) for v in value)
    if not swept:
        return Override(key, (_from_here(key, value),), False)
    if not value:
        raise _wrong(option, "an empty list leaves nothing to simulate", "write at least one value")
    return Override(key, tuple(_from_here(key, v) for v in value), True)


def _from_here(key: Key, value: Any) -> Any:
    """The value with the paths in it starting at the current folder, not at the file's."""
    if isinstance(value, dict):
        return {k: _from_here((*key, k), v) for k, v in value.items()}
    named = key == ("workload", "runtimes", "table") and value in TABLES
    # Those of local users stand below `clusters.NAME.local`.
    local = key[:1] == ("clusters",) and key[2:3] == ("local",)
    named_file = (key[3:] if local else key) in _FILES
    if named_file and isinstance(value, str) and value and not named and "\0" not in value:
        return value if value.startswith("~") else str(Path.cwd() / value)
    return value


def combinations(overrides: Sequence[Override]) -> Iterator[dict[str, Any]]:
    """The swept values of each run, by key: every combination, the last key's changing fastest.

    One empty combination if nothing is swept. Raises ConfigErrors for far too many.
    """
    swept = [override for override in overrides if override.swept]
    number = 1
    for override in swept:
        number *= len(override.values)
    if number > MOST_RUNS:
        names = " x ".join(override.name for override in swept)
        message = f"these are {number} runs, and at most {MOST_RUNS} are allowed"
        raise _wrong(f"--set {names}", message, "sweep fewer values")
    for values in itertools.product(*(override.values for override in swept)):
        yield dict(zip((override.name for override in swept), values, strict=True))


def applied(data: dict[str, Any], overrides: Sequence[Override], values: dict[str, Any]) -> Any:
    """A copy of `data` with the overrides in it; swept ones have their value in `values`."""
    result = copy.deepcopy(data)
    for override in overrides:
        value = values[override.name] if override.swept else override.values[0]
        _put(result, override, copy.deepcopy(value))
    return result


def _put(data: dict[str, Any], override: Override, value: Any) -> None:
    place: Any = data
    for depth, part in enumerate(override.key[:-1], 1):
        inner = _item(place, part)
        of_list = takes_list(Scenario, override.key[:depth])
        if inner is None and isinstance(place, dict) and not of_list:
            inner = place[str(part)] = {}
        place = inner
    last = override.key[-1]
    if isinstance(place, dict):
        place[str(last)] = value
    elif isinstance(place, list) and isinstance(last, int) and last < len(place):
        place[last] = value
    else:
        raise _wrong(f"--set {override.name}", "there is no such place", "set the key above it")


def _item(place: Any, part: str | int) -> Any:
    if isinstance(place, dict):
        return place.get(str(part))
    if isinstance(place, list) and isinstance(part, int) and part < len(place):
        return place[part]
    return None


def _wrong(option: str, message: str, advice: str) -> ConfigErrors:
    key = option.removeprefix("--set ")
    return ConfigErrors([ConfigError(option, 0, key, message, advice)])
