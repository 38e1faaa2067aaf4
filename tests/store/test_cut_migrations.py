"""A migration, or a first start, that is cut off between two statements: nothing of it has been."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from metabroker.store import Store
from tests.store.schemas import KEPT, lay
from tests.store.test_migrations import everything
from tests.store.test_schema import described

OLDER = random.Random(5).sample(sorted(KEPT), 3)
CHANGES = ("ALTER", "CREATE", "DROP", "INSERT", "UPDATE", "DELETE")
IMAGES = 3  # that are opened, of those after each statement


@contextmanager
def copied(path: Path, folder: Path) -> Iterator[list[Path]]:
    """The files as they are after each statement that changes something: as whoever is killed there
    leaves them."""
    images: list[Path] = []

    def after(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        if statement.lstrip().upper().startswith(CHANGES):
            images.append(folder / f"{len(images)}.db")
            for end in ("", "-wal"):
                if (file := Path(f"{path}{end}")).exists():
                    shutil.copy(file, f"{images[-1]}{end}")

    event.listen(Engine, "after_cursor_execute", after)
    try:
        yield images
    finally:
        event.remove(Engine, "after_cursor_execute", after)


@pytest.mark.parametrize("revision", [None, *OLDER])
def test_what_was_cut_off_is_done_at_the_next_start(revision: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    if revision is not None:
        lay(revision, path, tmp_path)
    with copied(path, tmp_path) as images:
        Store(f"sqlite:///{path}").close()
    whole, rows = described(path), everything(path)
    assert len(images) > IMAGES
    for image in random.Random(str(revision)).sample(images, IMAGES):
        Store(f"sqlite:///{image}").close()
        assert described(image) == whole
        found = everything(image)
        assert {table: len(found[table]) for table in rows} == {t: len(rows[t]) for t in rows}
