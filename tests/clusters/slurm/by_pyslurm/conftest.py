"""Stages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metabroker.clusters.slurm.by_pyslurm import transport

from .staging import MakeStage, Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeStage]:
    monkeypatch.setattr(transport, "_PAUSE", 0.01)
    made: list[Stage] = []

    def make(**given: object) -> Stage:
        made.append(Stage(tmp_path, **given))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.transport.close()
