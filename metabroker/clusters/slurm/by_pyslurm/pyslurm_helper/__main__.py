"""Answers requests until its input ends."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import frames
from .release import before_import


def main() -> None:
    """Say who we are, before pyslurm is there and then, and answer one request at a time."""
    # Slurm's library and plugins may print: that must not get between the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        answers.write(frames.packed(message))
        answers.flush()

    say(before_import())
    try:
        # Here SLURM_CONF is read, once for all. Where it is not usable, or Slurm's plugins are of
        # another release, Slurm's library may end us.
        from . import asked
    except Exception as error:
        say({"failed": f"{type(error).__name__}: {error}"})
        return
    say(asked.hello())
    while (request := frames.read(sys.stdin.buffer)) is not None:
        say({"id": request.get("id"), **asked.answer(request)})


if __name__ == "__main__":
    main()
