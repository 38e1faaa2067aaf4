"""`qdel`: ends jobs."""

from __future__ import annotations

from metabroker.frontends.changing import change_each
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.submission.directives.getopt import scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = (row("W =", Command()), row("x", Command()))


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "qdel", permute=True)
    for option in given:
        if option.name == "x":
            raise FrontEndError("-x: what has ended stays in the history", "leave it out", 2)
    return change_each(client(), "qdel", rest, "cancel")
