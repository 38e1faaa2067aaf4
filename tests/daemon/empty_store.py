"""A store as the first daemon over it leaves it after its migrations, which each new store would go
through one by one. Those of users do, and those of the tests of the store."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

from metabroker.store.database import open_engine
from metabroker.store.schema import bring_up_to_date


def lay(path: Path, config: Path) -> None:
    """Write it, for its owner alone as a daemon makes it, if it is what a daemon of this
    configuration would make now."""
    if path.exists() or f"sqlite:///{path}\n" not in config.read_text():
        return
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as file:
        file.write(_empty())


@functools.cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "metabroker.db")
        engine = open_engine(f"sqlite:///{path}")
        bring_up_to_date(engine)
        engine.dispose()
        assert not list(path.parent.glob("*-wal")), "all of it is in the file"
        return path.read_bytes()
