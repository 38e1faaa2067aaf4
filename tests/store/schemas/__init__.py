"""A store of each released schema, as the code of that release has left it (see `making`)."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

KEPT = sorted(path.stem for path in Path(__file__).parent.glob("*.sql"))
"""The revisions of which there is one."""


def lay(revision: str, path: Path, folder: Path) -> None:
    """Make the store of that revision at `path`, as if all of it had been in `folder`."""
    text = (Path(__file__).parent / f"{revision}.sql").read_text()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(text.replace("@FOLDER@", str(folder)))
        connection.execute("pragma journal_mode=wal")  # as every store has it
