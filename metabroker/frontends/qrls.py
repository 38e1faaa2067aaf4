"""`qrls`: lets held jobs go on."""

from __future__ import annotations

from metabroker.frontends.changing import change_each, hold_list
from metabroker.frontends.link import client
from metabroker.submission.directives.getopt import scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = (row("h =", Command()),)


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "qrls", permute=True)
    nothing = [hold_list(option.value) for option in given][-1:] == ["n"]
    return 0 if nothing and rest else change_each(client(), "qrls", rest, "release")
