"""The lists in which a user says how many processors, and where; and native options."""

from __future__ import annotations

import re
import shlex

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import check_cluster, shown

LARGEST = 999_999_999  # processors in one component
MOST_COMPONENTS = 1024
_MEMORY = re.compile(r"([0-9]{1,12})([kmgt]?)b?", re.IGNORECASE)
_KILOBYTES = {"k": 1, "": 1 << 10, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30}


def parse_count(text: str, what: str = "processors") -> int:
    """A positive number of processors, or of what it says."""
    word = text.strip()
    if re.fullmatch(r"\+?[0-9]{1,9}", word) and int(word) > 0:
        return int(word)
    if re.fullmatch(r"[+-]?[0-9]+", word):
        raise SubmissionError(
            f"{shown(text)} {what} cannot be requested",
            f"ask for 1 to {LARGEST}",
        )
    raise SubmissionError(f"{shown(text)} is not a number of {what}", "write digits")


def parse_memory(text: str) -> int:
    """An amount of memory in MB, rounded up: `4G`, `500M`, `2T`; a number alone is MB, as sbatch
    reads it."""
    found = _MEMORY.fullmatch(text.strip())
    if found is None or not int(found[1]):
        what = f"{shown(text)} is not an amount of memory"
        raise SubmissionError(what, "write for example 500M, 4G or 1T")
    return -(-int(found[1]) * _KILOBYTES[found[2].lower()] // (1 << 10))


def parse_components(text: str) -> tuple[int, ...]:
    """The sizes of an unordered request: `16,16,8`."""
    return tuple(parse_count(part) for part in _parts(text, "--components 16,16,8"))


def parse_on(text: str) -> tuple[tuple[str, int], ...]:
    """Clusters and sizes of an ordered request: `delft:16,leiden:8`."""
    advice = "--on delft:16,leiden:8"
    pairs = []
    for part in _parts(text, advice):
        name, colon, count = part.partition(":")
        if not colon:
            what = f"{shown(part)} does not say how many processors"
            raise SubmissionError(what, f"write for example {advice}")
        check_cluster(name.strip())
        pairs.append((name.strip(), parse_count(count)))
    return tuple(pairs)


def parse_native(text: str) -> tuple[str, tuple[str, ...]]:
    """A cluster and the words for its own submit command: `delft:--mem=4G -C fast`."""
    name, colon, options = text.partition(":")
    if not colon:
        what = f"{shown(text)} does not say for which cluster"
        raise SubmissionError(what, "write for example --native delft:'--mem=4G'")
    check_cluster(name)
    try:
        return name, tuple(shlex.split(options))
    except ValueError as error:
        what = f"the native options {shown(options)} cannot be split into words"
        raise SubmissionError(what, "close every quote") from error


def _parts(text: str, example: str) -> list[str]:
    parts = text.split(",")
    if not all(part.strip() for part in parts):
        what = f"{shown(text)} has an empty part"
        raise SubmissionError(what, f"write for example {example}")
    if len(parts) > MOST_COMPONENTS:
        what = f"{len(parts)} components are too many"
        raise SubmissionError(what, f"use at most {MOST_COMPONENTS}")
    return parts


def parse_latency(text: str) -> float:
    """Milliseconds, `0.5` or `10`. Raises `SubmissionError`."""
    try:
        found = float(text)
    except ValueError as error:
        raise SubmissionError(f"{shown(text)} is no number of milliseconds", _LATENCY) from error
    check_latency(found)
    return found


def check_latency(milliseconds: float) -> None:
    """Raises `SubmissionError` where it makes no sense."""
    if not 0 < milliseconds <= MOST_MILLISECONDS:
        what = f"a latency is above 0 and at most {MOST_MILLISECONDS:g} ms, not {milliseconds:g}"
        raise SubmissionError(what, _LATENCY)


MOST_MILLISECONDS = 60_000.0
_LATENCY = "write for example 5, or 0.5"
