"""Reading the script that is to be submitted."""

from __future__ import annotations

import sys
from pathlib import Path

from metabroker.cli.errors import USAGE, CliError
from metabroker.submission.checks import LARGEST_SCRIPT

STDIN = "-"


def read_script(named: str) -> tuple[bytes, str]:
    """The script's bytes (one more than allowed at most) and its name; `-` reads stdin."""
    if named == STDIN:
        return sys.stdin.buffer.read(LARGEST_SCRIPT + 1), "stdin"
    path = Path(named)
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_SCRIPT + 1), path.name
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)  # not ours
        message = f"the script {named!a} cannot be read: {reason}"
        raise CliError(message, "name a readable file, or - for stdin", USAGE) from error
