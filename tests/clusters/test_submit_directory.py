"""The folder in which a job was submitted: nothing leads out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import paramiko
import pytest

from metabroker.clusters.submit_directory import (
    FileChanged,
    LocalSubmitDirectory,
    SubmitDirectory,
)
from metabroker.clusters.transports import sftp_content
from metabroker.clusters.transports.base import Command, Listed
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.run_as import RunAsTransport
from metabroker.clusters.transports.user_directory import UserDirectory
from tests.testbed.accounts import require_programs


@pytest.fixture(params=["own", "by a server of its user's"])
def home(request: pytest.FixtureRequest) -> Iterator[SubmitDirectory]:
    if request.param == "own":
        yield LocalSubmitDirectory()
        return
    require_programs()
    transport = RunAsTransport(LocalTransport({}), lambda command: Command(command.argv))
    yield UserDirectory(transport, "")
    transport.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "submit").mkdir()
    (tmp_path / "secret").write_text("not yours")
    return tmp_path / "submit"


def test_a_file_is_looked_at_and_read_by_parts(home: SubmitDirectory, folder: Path) -> None:
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


def test_a_file_that_changes_while_it_is_sent_is_told(home: SubmitDirectory, folder: Path) -> None:
    (folder / "in").write_bytes(b"old")
    seen = home.look(str(folder), "in")
    assert seen is not None
    (folder / "in").write_bytes(b"newer")
    with pytest.raises(FileChanged):
        home.get(str(folder), seen, 0, 10)


def test_no_link_is_followed(home: SubmitDirectory, folder: Path) -> None:
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
    (folder / "out").mkdir()
    (folder / "out" / "parts").symlink_to("../..")
    with pytest.raises(OSError):
        home.clear(str(folder), "out/parts")
    assert (folder.parent / "secret").read_text() == "not yours"
    assert not (folder.parent / "new").exists()


def test_a_folder_or_a_pipe_is_no_file(home: SubmitDirectory, folder: Path) -> None:
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    for name in ("sub", "pipe"):
        with pytest.raises(OSError, match="not a regular file"):
            home.look(str(folder), name)


PARTS = "metabroker-7.0/.parts"


def test_a_result_takes_its_name_when_it_is_whole(home: SubmitDirectory, folder: Path) -> None:
    name, new = "metabroker-7.0/deep/result", f"{PARTS}/1"
    (folder / "metabroker-7.0").mkdir()
    home.put(str(folder), new, 0, b"01234")
    home.put(str(folder), new, 5, b"56789")
    assert not (folder / name).exists()
    home.finish(str(folder), new, Listed(name, 10, 1234, executable=True))
    made = (folder / name).stat()
    assert (folder / name).read_bytes() == b"0123456789"
    assert (int(made.st_mtime), bool(made.st_mode & 0o100)) == (1234, True)
    assert made.st_mode & 0o022 == 0, "as the umask says"
    assert [path.name for path in (folder / name).parent.iterdir()] == ["result"]
    home.clear(str(folder), PARTS)
    home.clear(str(folder), PARTS)
    assert not (folder / PARTS).exists()


def test_a_later_run_s_result_takes_the_place_of_an_earlier_one(
    home: SubmitDirectory, folder: Path
) -> None:
    for content in (b"first", b"2nd"):
        home.put(str(folder), f"{PARTS}/1", 0, content)
        home.finish(str(folder), f"{PARTS}/1", Listed("out/result", len(content), 1))
    assert (folder / "out" / "result").read_bytes() == b"2nd"


def test_what_is_cleared_is_not_finished(home: SubmitDirectory, folder: Path) -> None:
    home.put(str(folder), f"{PARTS}/1", 0, b"01234")
    home.clear(str(folder), PARTS)
    with pytest.raises(FileNotFoundError):
        home.put(str(folder), f"{PARTS}/1", 5, b"56789")
    with pytest.raises(FileNotFoundError):
        home.finish(str(folder), f"{PARTS}/1", Listed("metabroker-7.0/r", 10, 1))
    assert not (folder / "metabroker-7.0" / "r").exists()


def test_a_users_server_syncs_each_part_and_each_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_programs()
    asked = []
    sync = sftp_content.sync

    def told(sftp: paramiko.SFTPClient, opened: paramiko.SFTPFile) -> None:
        asked.append(opened)
        sync(sftp, opened)

    monkeypatch.setattr(sftp_content, "sync", told)
    transport = RunAsTransport(LocalTransport({}), lambda command: Command(command.argv))
    home = UserDirectory(transport, "")
    home.put(str(folder), f"{PARTS}/1", 0, b"01234")
    home.put(str(folder), f"{PARTS}/1", 5, b"56789")
    home.finish(str(folder), f"{PARTS}/1", Listed("metabroker-7.0/r", 10, 1))
    assert len(asked) == 2
    home.sync(str(folder), "metabroker-7.0")
    home.sync(str(folder), "")
    assert len(asked) == 4
    with pytest.raises(FileNotFoundError):
        home.sync(str(folder), "none")
    transport.close()
