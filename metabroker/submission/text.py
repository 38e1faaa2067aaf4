"""Checks of single pieces of text, and how a message shows them."""

from __future__ import annotations

import re
import unicodedata

from metabroker.submission.errors import SubmissionError

_BREAKS = frozenset({"Cc", "Cs", "Zl", "Zp"})  # control, not UTF-8, line and paragraph breaks
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def shown(text: str) -> str:
    """`text` in quotes, in one line of ASCII and never long, for a message."""
    quoted = ascii(text)
    return quoted if len(quoted) <= 60 else f"{quoted[:56]}...{quoted[0]}"


def check_line(what: str, text: str, longest: int) -> None:
    """`text` must have 1 to `longest` characters, none of which controls or breaks a line."""
    if not text:
        raise SubmissionError(f"{what} is empty", "give one, or leave it out")
    if len(text) > longest:
        raise SubmissionError(f"{what} has {len(text)} characters", f"use at most {longest}")
    if not text.isprintable() and any(unicodedata.category(char) in _BREAKS for char in text):
        raise SubmissionError(
            f"{what} {shown(text)} has control characters or is not UTF-8",
            "use printable characters in one line",
        )


def check_data(what: str, text: str, longest: int) -> None:
    """`text` may be anything that a process can be given: at most `longest` bytes, no NUL."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise SubmissionError(
            f"{what} {shown(text)} is not UTF-8", "rename or encode it"
        ) from error
    if size > longest:
        raise SubmissionError(f"{what} has {size} bytes", f"use at most {longest}")
    if "\0" in text:
        raise SubmissionError(f"{what} has a NUL character", "remove it")


def check_variable(name: str) -> None:
    """`name` must be the name of an environment variable."""
    if len(name) > 255 or _VARIABLE.fullmatch(name) is None:
        raise SubmissionError(
            f"{shown(name)} cannot name an environment variable",
            "use letters, digits and _, and no digit first",
        )


def check_cluster(name: str) -> None:
    """`name` must look like a cluster's name; whether there is one, the daemon knows."""
    if _CLUSTER.fullmatch(name) is None:
        raise SubmissionError(
            f"there is no cluster {shown(name)}",
            "`metabroker clusters` lists them",
        )
