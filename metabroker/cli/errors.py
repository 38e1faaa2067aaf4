"""Errors of the command line: what is wrong, what to do, and the exit code (contract C1)."""

from __future__ import annotations

import sys

from metabroker.errors import AdvisedError

FAILED = 1
USAGE = 2


class CliError(AdvisedError):
    """A command that ends with an error; `code` is 1, or 2 for wrong usage or configuration."""

    def __init__(self, message: str, advice: str = "", code: int = FAILED) -> None:
        super().__init__(message, advice)
        self.code = code


def complain(message: str, advice: str = "") -> None:
    """Write one line to stderr in the form that contract C1 asks for."""
    tell(f"{message}; {advice or 'see `metabroker --help`'}")


def tell(text: str) -> None:
    """Write one line to stderr that has this form already."""
    print(f"metabroker: {one_line(text)}", file=sys.stderr, flush=True)


def one_line(text: str) -> str:
    """`text` without what would move the cursor or break the line."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)
