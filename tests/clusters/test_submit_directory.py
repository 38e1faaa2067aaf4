"""The folder in which a job was submitted: nothing leads out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metabroker.clusters.submit_directory import FileChanged, LocalSubmitDirectory
from metabroker.clusters.transports.base import Listed


@pytest.fixture
def home() -> LocalSubmitDirectory:
    return LocalSubmitDirectory()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "submit").mkdir()
    (tmp_path / "secret").write_text("not yours")
    return tmp_path / "submit"


def test_a_file_is_looked_at_and_read_by_parts(home: LocalSubmitDirectory, folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "in.nc").write_bytes(b"0123456789")
    (folder / "data" / "in.nc").chmod(0o755)
    os.utime(folder / "data" / "in.nc", (5, 5))
    seen = home.look(str(folder), "data/in.nc")
    assert seen == Listed("data/in.nc", 10, 5, executable=True)
    assert home.get(str(folder), seen, 4, 3) == b"456"
    assert home.get(str(folder), seen, 8, 30) == b"89"
    assert home.look(str(folder), "data/none") is None
    assert home.look(str(folder), "none/none") is None


def test_a_file_that_changes_while_it_is_sent_is_told(
    home: LocalSubmitDirectory, folder: Path
) -> None:
    (folder / "in").write_bytes(b"old")
    seen = home.look(str(folder), "in")
    assert seen is not None
    (folder / "in").write_bytes(b"newer")
    with pytest.raises(FileChanged):
        home.get(str(folder), seen, 0, 10)


def test_no_link_is_followed(home: LocalSubmitDirectory, folder: Path) -> None:
    (folder / "file").symlink_to("../secret")
    (folder / "up").symlink_to("..")
    (folder / "real").mkdir()
    for name in ("file", "up/secret"):
        with pytest.raises(OSError):
            home.look(str(folder), name)
    seen = Listed("file", 9, 0)
    with pytest.raises(OSError):
        home.get(str(folder), seen, 0, 10)
    with pytest.raises(OSError):
        home.put(str(folder), "up/new", 0, b"x")
    (folder / "real" / ".out.part").symlink_to("../../secret")
    with pytest.raises(OSError):
        home.put(str(folder), "real/out", 0, b"x")
    assert (folder.parent / "secret").read_text() == "not yours"
    assert not (folder.parent / "new").exists()


def test_a_folder_or_a_pipe_is_no_file(home: LocalSubmitDirectory, folder: Path) -> None:
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    for name in ("sub", "pipe"):
        with pytest.raises(OSError, match="not a regular file"):
            home.look(str(folder), name)


def test_a_result_takes_its_name_when_it_is_whole(home: LocalSubmitDirectory, folder: Path) -> None:
    name = "metabroker-7.0/deep/result"
    (folder / "metabroker-7.0").mkdir()
    home.put(str(folder), name, 0, b"01234")
    home.put(str(folder), name, 5, b"56789")
    assert not (folder / name).exists()
    home.finish(str(folder), Listed(name, 10, 1234, executable=True))
    made = (folder / name).stat()
    assert (folder / name).read_bytes() == b"0123456789"
    assert (int(made.st_mtime), bool(made.st_mode & 0o100)) == (1234, True)
    assert made.st_mode & 0o022 == 0, "as the umask says"
    assert [path.name for path in (folder / name).parent.iterdir()] == ["result"]


def test_a_later_run_s_result_takes_the_place_of_an_earlier_one(
    home: LocalSubmitDirectory, folder: Path
) -> None:
    for content in (b"first", b"2nd"):
        home.put(str(folder), "out/result", 0, content)
        home.finish(str(folder), Listed("out/result", len(content), 1))
    assert (folder / "out" / "result").read_bytes() == b"2nd"
