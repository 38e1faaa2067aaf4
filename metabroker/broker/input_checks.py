"""What components and clusters tell is input: its text is cleaned and cut, its numbers must be ones
that can be. Whoever wrote it, the core and both stores can live with what gets through here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .events import (
    Arrived,
    Cleaned,
    ClusterUnreachable,
    DrainCluster,
    Ended,
    Event,
    Fetched,
    Observed,
    Refused,
    Reserved,
    Staged,
    Started,
    Submitted,
    Unsure,
)

LONGEST_DETAIL = 4000  # characters of what a cluster says
LONGEST_SYSTEM = 400  # characters of what a cluster calls itself
LONGEST_HOSTS = 256 * 1024  # characters of the names of a component's hosts
LARGEST_EXIT = 255
_LARGEST = 2**31 - 1  # of an exit code in a cluster's words, where a signal is one too
_MOST_BYTES = 2**63 - 1
_LAST = 2.0**33  # Unix seconds: in the year 2242
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Unsound(Exception):
    """What was told cannot be so."""


def text(given: str, longest: int = LONGEST_DETAIL) -> str:
    """Without NUL characters and half characters, and not longer than that."""
    if len(given) > longest:
        given = given[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if not given.isascii():
        given = given.encode("utf-8", "replace").decode("utf-8")
    return given.replace("\0", _REPLACEMENT) if "\0" in given else given


def _hosts(given: str) -> str:
    return text(given, LONGEST_HOSTS)


def _moment(given: Any) -> Any:
    if given is not None and not (math.isfinite(given) and 0 <= given <= _LAST):
        raise Unsound("a time that is impossible")
    return given


def _whole(what: str, least: int, most: int) -> Callable[[Any], Any]:
    def check(given: Any) -> Any:
        if given is not None and not least <= given <= most:
            raise Unsound(f"{what} that is impossible")
        return given

    return check


def _snapshot(given: Any) -> Any:
    system = text(given.system, LONGEST_SYSTEM)
    return given if system is given.system else replace(given, system=system)


def _told_text(given: Any) -> Any:
    return None if given is None else text(given)


_own_exit = _whole("an exit code", 0, LARGEST_EXIT)
_any_exit = _whole("an exit code", -_LARGEST, _LARGEST)
_size = _whole("a size", 0, _MOST_BYTES)

# By the event's fields; whatever is not named here was made by the broker itself.
_CHECKS: Mapping[type, Mapping[str, Callable[[Any], Any]]] = {
    Staged: {"files": _size, "size": _size},
    Reserved: {"start_time": _moment, "end_time": _moment},
    Submitted: {"native_id": text, "submit_time": _moment},
    Cleaned: {"start_time": _moment, "end_time": _moment, "exit_code": _any_exit},
    Fetched: {"files": _size, "size": _size, "folder": text},
    Refused: {"detail": text},
    Unsure: {"detail": text},
    Arrived: {"hosts": _hosts},
    Started: {"time": _moment, "hosts": _hosts, "native_id": _told_text},
    Ended: {"time": _moment, "exit_code": _own_exit},
    ClusterUnreachable: {"detail": text},
    DrainCluster: {"reason": text},
    Observed: {"snapshot": _snapshot},
}


def sound(event: Event) -> Event:
    """The event with its text cleaned.

    Raises:
        Unsound: a number of it is out of all bounds.
    """
    checks = _CHECKS.get(type(event))
    if checks is None:
        return event
    changed = {}
    for name, check in checks.items():
        given = getattr(event, name)
        kept = check(given)
        if kept is not given:
            changed[name] = kept
    return replace(event, **changed) if changed else event
