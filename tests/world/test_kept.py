"""A storm that was ended goes on with the same code only, whatever is written about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import code, kept, storm
from .report import Storm
from .scenario import Tally


def test_a_storm_goes_on_at_another_commit_with_the_same_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "state"
    kept.save(Storm(40, Tally({"brokers 1": 40}), [(7, "P1")], 9.0, True), file, "make storm")
    monkeypatch.setattr(kept, "commit", lambda: "another")
    found = kept.load(file, "make storm")
    assert found is not None
    assert (found.seeds, found.failed, found.tally.counts) == (40, [(7, "P1")], {"brokers 1": 40})


@pytest.mark.parametrize(
    ("command", "of", "what"), [("make other", "same", "command"), ("make storm", "other", "code")]
)
def test_what_is_of_another_storm_or_of_other_code_is_refused(
    command: str, of: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "state"
    kept.save(Storm(40, Tally(), [], 9.0, True), file, "make storm")
    if of == "other":
        monkeypatch.setattr(kept, "fingerprint", lambda: of)
    with pytest.raises(SystemExit, match=f"{what} is .*; remove it to begin anew"):
        kept.load(file, command)


def test_words_about_code_are_not_code() -> None:
    before = '"""One."""\n\n\ndef f() -> int:\n    """Two."""\n    return 1\n'
    words = '"""Other words."""\n\n\ndef f() -> int:\n    # Why.\n    return 1\n'
    assert code.without_words(before) == code.without_words(words)
    assert code.without_words(before) != code.without_words(words.replace("1", "2"))


def test_what_a_world_runs_is_code() -> None:
    assert storm
    names = {file.name for file in code._files()}
    assert {"core.py", "world.py", "wrapper.sh"} <= names
