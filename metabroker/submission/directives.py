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
_FOREIGN = ("#SBATCH", "#PBS")
_MOST = 5  # lines that a message shows
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Directive:
    """The words of one line. `line` counts from 1."""

    line: int
    words: tuple[str, ...]


def directives(script: bytes, file: str) -> list[Directive]:
    """The directives in `script`, in their order; `file` names it in errors.

    Raises `SubmissionError` with file and line.
    """
    return [
        Directive(number, _words(rest, f"{file}:{number}"))
        for number, rest in _marked(script, _MARK)
    ]


@dataclass(frozen=True, slots=True)
class Foreign:
    """Another system's directives in a script, which metabroker does not read."""

    mark: str
    lines: tuple[tuple[int, str], ...]

    @property
    def told(self) -> str:
        """What is ignored, in one line that is never long."""
        shown = [f"line {number}:{shown_plainly(text)}" for number, text in self.lines[:_MOST]]
        more = len(self.lines) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")


def foreign(script: bytes) -> list[Foreign]:
    """The `#SBATCH` and `#PBS` lines that these systems would read in the script."""
    found = []
    for mark in _FOREIGN:
        lines = tuple(_marked(script, mark))
        if lines:
            found.append(Foreign(mark, lines))
    return found


def shown_plainly(text: str) -> str:
    """The text as it stands, if it is plain and short; else as a message can show it."""
    words = " ".join(text.split())
    plain = words.isascii() and words.isprintable() and len(words) <= _LONGEST
    return f" {words if plain else shown(words)}"


def _marked(script: bytes, mark: str) -> Iterator[tuple[int, str]]:
    """What follows `mark` in the comment lines before the first other line, with its number."""
    for number, raw in enumerate(script.split(b"\n"), start=1):
        line = raw.strip()
        if not line.startswith(b"#"):
            if line:
                return
            continue
        text = line.decode("utf-8", "surrogateescape")
        rest = text[len(mark) :]
        if text.startswith(mark) and (not rest or rest[0].isspace()):
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
