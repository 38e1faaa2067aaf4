"""`#METABROKER` lines: options of `submit` at the top of the script.

As with sbatch, only comment lines and empty lines before the first other line are looked at, and
the rest of a line is split into words as a shell does.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

_MARK = "#METABROKER"


@dataclass(frozen=True, slots=True)
class Directive:
    """The words of one line. `line` counts from 1."""

    line: int
    words: tuple[str, ...]


def directives(script: bytes, file: str) -> list[Directive]:
    """The directives in `script`, in their order; `file` names it in errors.

    Raises `SubmissionError` with file and line.
    """
    found = []
    for number, raw in enumerate(script.split(b"\n"), start=1):
        line = raw.strip()
        if not line.startswith(b"#"):
            if line:
                break
            continue
        text = line.decode("utf-8", "surrogateescape")
        mark, rest = text[: len(_MARK)], text[len(_MARK) :]
        if mark == _MARK and (not rest or rest[0].isspace()):
            found.append(Directive(number, _words(rest, f"{file}:{number}")))
    return found


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
