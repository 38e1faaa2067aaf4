"""Where compiled programs are kept."""

from pathlib import Path

import pytest

from metabroker.simulation.kernel import compiled
from metabroker.simulation.kernel.compiled import digest, entry, folders

NAME = f"metabroker-{digest()}"


def twice(number: int) -> int:
    return 2 * number


def test_beside_their_source_or_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/ada/.cache")
    user = Path("/home/ada/.cache/metabroker") / NAME
    assert folders("") == [compiled.HERE / "__pycache__" / NAME, user]
    monkeypatch.setattr(compiled, "HERE", Path("/nowhere"))
    assert folders("") == [user]


def test_in_the_folder_that_numba_is_told() -> None:
    assert folders("/var/cache/numba") == [Path("/var/cache/numba") / NAME]


def test_where_nothing_can_be_written_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr(compiled, "folders", lambda outer: [file])
    assert entry(twice)(4) == 8


def test_a_second_process_finds_what_the_first_has_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiled, "folders", lambda outer: [tmp_path / "cache"])
    assert entry(twice)(4) == 8
    assert list((tmp_path / "cache").rglob("*.nbc"))
