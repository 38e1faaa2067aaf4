"""What the move into PostgreSQL leaves where it was, and says so (the move itself: `daemon/`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metabroker.cli.move_store import _as_json, _print
from metabroker.config.model import Config
from metabroker.maintenance.move_store import MoveReport, left_behind
from metabroker.store.backups import Content

DATABASE = "postgresql://db.example.org/metabroker"


def configuration(**more: Any) -> Config:
    clusters = {"lab": {"system": "simulated", "processors": 8}}
    return Config.model_validate({"store": DATABASE, "clusters": clusters, **more})


@pytest.fixture
def former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the former store, with what was beside it."""
    monkeypatch.setattr("metabroker.paths.state_directory", lambda: tmp_path / "now")
    (tmp_path / "archive").mkdir()
    for name in ("audit.log", "lab.simulated", "metabroker.db"):
        (tmp_path / name).touch()
    return tmp_path


def test_what_was_beside_the_store_is_told_with_its_new_place(
    former: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = left_behind(configuration(), former / "metabroker.db")
    now = former / "now"
    assert [(each.path.name, each.now) for each in left] == [
        ("audit.log", now / "audit.log"),
        ("archive", now / "archive"),
        ("lab.simulated", now / "lab.simulated"),
    ]
    content = Content(former / "metabroker.db", 0.0, "i", "0018", {}, 0, 0)
    report = MoveReport(content, former / "aside", {"jobs": 1}, left)
    _print(report)
    told = capsys.readouterr().out
    assert f"the audit log is not moved: it stays at {former}/audit.log" in told
    assert f"from now on {now}/archive" in told and "history: {archive: FOLDER}" in told
    assert told.endswith("start the daemon\n")
    assert [each["path"] for each in _as_json(report)["left"]] == [str(e.path) for e in left]


def test_what_is_not_there_or_stays_in_use_is_not_told(former: Path) -> None:
    named = configuration(
        audit=str(former / "audit.log"), history={"archive": str(former / "archive")}
    )
    (former / "lab.simulated").unlink()
    assert left_behind(named, former / "metabroker.db") == []
