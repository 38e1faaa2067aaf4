"""Parts of files and what lies below a folder, over every transport; the cluster's side is here."""

from __future__ import annotations

import contextlib
import os
import random
from pathlib import Path

import pytest

from metabroker.clusters.transports import remote_files
from metabroker.clusters.transports.base import Completed, Files, Listed, Transport
from metabroker.clusters.transports.remote_files import CommandFiles
from metabroker.clusters.transports.sftp import SftpFiles
from tests.testbed.sshd import account

STRANGE = ("plain", "with blank", "new\nline", "quo'te\"", "$(touch x)`y`", "-n", "ünïcode", "*")


@pytest.fixture
def files(transport: Transport) -> Files:
    return transport.files


def own(path: Path) -> Path:
    """The account at the other end owns it."""
    if os.geteuid() == 0:
        os.chown(path, account().uid, account().gid, follow_symlinks=False)
    return path


def made(path: Path, content: bytes = b"", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    own(path.parent)
    path.write_bytes(content)
    path.chmod(mode)
    return own(path)


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", bytes(100_001)])
@pytest.mark.parametrize("executable", [False, True])
def test_a_file_is_written_whole_in_place_of_whatever_stood_there(
    files: Files, place: Path, content: bytes, executable: bool
) -> None:
    target = made(place / "target", b"another's")
    old = made(place / "old", b"longer than what replaces it", 0o640)
    (place / "link").symlink_to(target)
    for path in (place / "new", old, own(place / "link")):
        files.write(str(path), content, executable=executable)
        assert not path.is_symlink() and path.read_bytes() == content
        assert oct(path.stat().st_mode & 0o777) == ("0o700" if executable else "0o600")
    assert target.read_bytes() == b"another's"
    assert sorted(path.name for path in place.iterdir()) == ["link", "new", "old", "target"]
    with pytest.raises(OSError):
        files.write(str(place / "none" / "file"), content)


def test_who_makes_a_folder_hears_whether_it_was_not_there(files: Files, place: Path) -> None:
    tells = not isinstance(files, CommandFiles) or isinstance(files, SftpFiles)
    folder = f"{place}/.metabroker-mb-12345678-1-1-0-{20 * 'a'}"
    assert files.make_folder(folder) is tells
    assert files.make_folder(folder) is False
    assert files.make_folder(f"{folder}/work") is tells
    files.remove_tree(folder)
    assert files.make_folder(folder) is tells


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_goes_there_and_back_part_by_part(files: Files, place: Path, name: str) -> None:
    content, part = random.Random(name).randbytes(300_001), 100_000
    path = str(place / name)
    for offset in range(0, len(content), part):
        files.put(path, offset, content[offset : offset + part])
    assert Path(path).read_bytes() == content
    assert oct(Path(path).stat().st_mode & 0o777) == "0o600"
    back = b"".join(files.get(path, at, part) for at in range(0, len(content), part))
    assert back == content
    assert files.get(path, len(content), part) == b""
    assert files.get(path, len(content) - 1, part) == content[-1:]


def test_the_first_part_begins_anew_and_another_wants_a_beginning(
    files: Files, place: Path
) -> None:
    path = place / "file"
    files.put(str(path), 0, b"old content")
    files.put(str(path), 0, b"", executable=True)
    assert path.read_bytes() == b""
    assert oct(path.stat().st_mode & 0o777) == "0o700"
    with pytest.raises(OSError):
        files.put(str(place / "none"), 5, b"rest")
    assert not (place / "none").exists()
    with pytest.raises(OSError):
        files.put(str(place / "no folder" / "file"), 0, b"rest")


def test_a_part_written_twice_does_no_harm(files: Files, place: Path) -> None:
    path = str(place / "file")
    for offset, content in ((0, b"aaaa"), (4, b"bbbb"), (4, b"bbbb"), (8, b"cc")):
        files.put(path, offset, content)
    files.put(path, 4, b"bbbb")
    assert Path(path).read_bytes() == b"aaaabbbbcc"


def test_no_link_is_written_or_read_through(files: Files, place: Path) -> None:
    target = made(place / "target", b"secret")
    (place / "link").symlink_to(target)
    own(place / "link")
    with pytest.raises(OSError):
        files.get(str(place / "link"), 0, 100)
    with pytest.raises(OSError):
        files.put(str(place / "link"), 3, b"x")
    with contextlib.suppress(OSError):
        files.put(str(place / "link"), 0, b"mine")
    assert target.read_bytes() == b"secret"


def test_what_cannot_be_read_is_an_error(files: Files, place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.get(str(place / "none"), 0, 10)
    with pytest.raises(OSError):
        files.get(str(place), 0, 10)


def test_the_regular_files_below_a_folder(files: Files, place: Path) -> None:
    for name in STRANGE:
        os.utime(made(place / "work" / "sub" / name, b"12345"), (1000.9, 2000.9))
    made(place / "work" / "run me", b"", 0o755)
    made(place / "elsewhere" / "secret", b"1")
    (place / "work" / "link").symlink_to(place / "elsewhere")
    (place / "work" / "sub" / "file link").symlink_to(place / "elsewhere" / "secret")
    os.mkfifo(place / "work" / "pipe")
    found = sorted(files.tree(str(place / "work")), key=lambda file: file.path)
    expected = [Listed(f"sub/{name}", 5, 2000) for name in STRANGE]
    (runs,) = [file for file in found if file.path == "run me"]
    assert runs.executable
    assert [file for file in found if file.path != "run me"] == sorted(
        expected, key=lambda file: file.path
    )
    assert list(files.tree(str(place / "none"))) == []


def test_a_folder_is_renamed_with_all_in_it(files: Files, place: Path) -> None:
    made(place / "gate" / "work" / "deep" / "file", b"result")
    own(place / "gate")
    own(place / "gate" / "work")
    assert files.rename(str(place / "gate" / "work"), str(place / "kept")) is True
    assert (place / "kept" / "deep" / "file").read_bytes() == b"result"
    assert files.rename(str(place / "gate" / "work"), str(place / "kept")) is False


def test_of_ways_that_were_looked_at_only_so_many_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = []
    monkeypatch.setattr(remote_files, "examine", lambda root, *_: looked.append(root))
    files = CommandFiles(lambda _command: Completed(0, "", ""))
    for number in range(10_000):
        files._believe(f"/home/anna/run-{number}")
    assert len(looked) == 10_000 and len(files._believed) <= 4096
    files._believe("/home/anna/run-9999")
    assert len(looked) == 10_000
