"""What a storm has played so far, in a file: one that was ended goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path

from .code import fingerprint
from .report import Storm, commit
from .scenario import Tally


def load(file: Path, command: str) -> Storm | None:
    """What is kept there; None: nothing yet.

    Raises:
        SystemExit: it is of another storm, or of other code.
    """
    if not file.exists():
        return None
    has = json.loads(file.read_text())
    wanted = {"command": command, "code": fingerprint()}
    for what, value in wanted.items():
        if has.get(what) != value:
            raise SystemExit(
                f"{file}: {what} is {has.get(what)}, not {value}; remove it to begin anew"
            )
    failed = [(seed, wrong) for seed, wrong in has["failed"]]
    return Storm(has["seeds"], Tally(has["tally"]), failed, has["seconds"], has["several"])


def save(storm: Storm, file: Path, command: str) -> None:
    """Keep it: whole, or as it was before."""
    new = file.with_suffix(".new")
    new.write_text(
        json.dumps(
            {
                "command": command,
                "code": fingerprint(),
                "commit": commit(),
                "seeds": storm.seeds,
                "seconds": storm.seconds,
                "several": storm.several,
                "failed": storm.failed,
                "tally": storm.tally.counts,
            }
        )
    )
    new.replace(file)
