"""`#METABROKER` lines: options of `submit` at the top of the script.

As with sbatch, only comment lines and empty lines before the first other line are looked at, and
the rest of a line is split into words as a shell does.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

_MARK = "#METABROKER"


@dataclass(frozen=True)
class Directive:
    """The words of one line. `line` counts from 1."""

    line: int
    words: tuple[str, ...]


def directives(script: bytes, file: str) -> list[Directive]:
    """The directives in `script`, in their order; `file` names it in errors.

    Raises `SubmissionError` with file and line.
    """
    return [Directive(number, _words(rest, f"{file}:{number}")) for number, rest in _marked(script)]


def _marked(script: bytes) -> Iterator[tuple[int, str]]:
    """What follows the mark in the comment lines before the first other line, with its number."""
    for number, raw in enumerate(script.split(b"\n"), start=1):
        line = raw.strip()
        if not line.startswith(b"#"):
            if line:
                return
            continue
        text = line.decode("utf-8", "surrogateescape")
        rest = text[len(_MARK) :]
        if text.startswith(_MARK) and (not rest or rest[0].isspace()):
            yield number, rest


def _words(text: str, where: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text, comments=True))
    except ValueError as error:
        what = f"{where}: {shown(text.strip())} cannot be split into words"
        raise SubmissionError(what, "close every quote") from error
    if words and not words[0].startswith("-"):
        what = f"{where}: {shown(words[0])} is not an option"
        raise SubmissionError(what, "write options as on the command line, each with its value")
    return words
