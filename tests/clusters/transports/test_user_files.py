"""Files by a real SFTP server over a pipe, as `run_as` reaches those of users."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gate import Gates, former_gate_path
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.transports.base import Command, CommandLost, NotAllowed, Unreached
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.run_as import RunAsTransport, by_ids, by_sudo, refusal
from metabroker.clusters.transports.user_files import UserFiles
from tests.clusters.gate.making import order
from tests.testbed.accounts import SFTP_SERVER, require_programs


class Own:
    """Instead of becoming somebody else, stay who we are."""

    def __init__(self, *instead: str) -> None:
        self._instead = instead

    def __call__(self, command: Command) -> Command:
        return Command(self._instead or command.argv)


@pytest.fixture
def acting() -> Iterator[RunAsTransport]:
    """Acts as ourselves, whoever is named."""
    if not SFTP_SERVER.exists():
        if os.geteuid() != 0:
            pytest.skip(f"left out, it needs {SFTP_SERVER}")
        require_programs()
    transport = RunAsTransport(LocalTransport({}), Own(), command_timeout=20, most=2)
    yield transport
    transport.close()


@pytest.fixture
def files(acting: RunAsTransport) -> UserFiles:
    """Our own files, by SFTP."""
    found = acting.files_of("anna")
    assert isinstance(found, UserFiles)
    return found


def test_files_are_written_renamed_read_and_removed(files: UserFiles, tmp_path: Path) -> None:
    folder = str(tmp_path / ".metabroker" / "mb-1")
    files.make_folder(folder)
    files.make_folder(folder)
    assert (tmp_path / ".metabroker").stat().st_mode & 0o777 == 0o700
    files.write(f"{folder}/a", b"\0one\n", executable=True)
    assert files.read(f"{folder}/a") == b"\0one\n"
    assert Path(folder, "a").stat().st_mode & 0o777 == 0o700
    files.write(f"{folder}/a", b"two")
    assert files.read(f"{folder}/a") == b"two"
    assert files.rename(f"{folder}/a", f"{folder}/b") and not files.rename(f"{folder}/a", "/x")
    assert [entry.name for entry in files.list(folder) or ()] == ["b"]
    assert (files.list(f"{folder}/none"), files.read(f"{folder}/none")) == (None, None)
    Path(folder, "deep").mkdir()
    Path(folder, "deep", "link").symlink_to("/etc/passwd")
    files.remove_tree(folder)
    files.remove_tree(folder)
    assert not (tmp_path / ".metabroker").exists() and Path("/etc/passwd").exists()


def test_parts_of_files(files: UserFiles, tmp_path: Path) -> None:
    content = os.urandom(100_000)
    path = f"{tmp_path}/data"
    files.put(path, 0, content[:70_000], executable=True)
    files.put(path, 70_000, content[70_000:])
    assert files.get(path, 0, 200_000) == content
    assert files.get(path, 50_000, 10) == content[50_000:50_010]
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "small").write_text("x")
    found = {listed.path: (listed.size, listed.executable) for listed in files.tree(str(tmp_path))}
    assert found == {"data": (100_000, True), "deep/small": (1, False)}
    assert files.tree(f"{tmp_path}/none") == []


def test_a_file_that_is_renamed_all_the_time_is_always_in_the_list(
    files: UserFiles, tmp_path: Path
) -> None:
    (tmp_path / "go").touch()
    stop = threading.Event()

    def rename() -> None:
        names = ("go", "run")
        while not stop.is_set():
            os.rename(tmp_path / names[0], tmp_path / names[1])
            names = names[::-1]
            stop.wait(0.002)

    renaming = threading.Thread(target=rename)
    renaming.start()
    try:
        for _ in range(300):
            assert files.list(str(tmp_path))
    finally:
        stop.set()
        renaming.join()


def test_what_is_no_plain_file_is_never_opened(files: UserFiles, tmp_path: Path) -> None:
    """A pipe would be waited for, and a link could lead anywhere."""
    os.mkfifo(tmp_path / "ended")
    (tmp_path / "started").symlink_to("/dev/zero")
    (tmp_path / "arrived").write_text("delft1\n")
    seen = files.bulk_read([str(tmp_path), "/none"], ("arrived", "started", "ended"))
    assert seen.read(f"{tmp_path}/arrived") == b"delft1\n"
    for name in ("started", "ended"):
        with pytest.raises(OSError, match="symbolic links"):
            seen.read(f"{tmp_path}/{name}")
        with pytest.raises(OSError, match="symbolic links"):
            files.read(f"{tmp_path}/{name}")
    assert seen.list("/none") is None


@pytest.mark.root
def test_nothing_is_put_into_a_folder_of_somebody_else(files: UserFiles, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("left out, only root can give a folder away")
    gate = former_gate_path(str(tmp_path), "mb-1", "secret", "anna")
    gates, asked = Gates(files), replace(order(tmp_path), gate=gate)
    parent = Path(gate).parent
    parent.mkdir()
    for owner, mode in ((1, 0o700), (0, 0o777)):
        os.chown(parent, owner, owner)
        parent.chmod(mode)
        with pytest.raises(ClusterRefusal, match=r"somebody else|others may write") as refused:
            gates.prepare(asked)
        assert refused.value.cause is Cause.INVALID
        assert not Path(gate).exists()
    os.chown(parent, 0, 0)
    parent.chmod(0o700)
    gates.prepare(asked)


def test_servers_are_few_and_end(acting: RunAsTransport, tmp_path: Path) -> None:
    accounts = ("anna", "bob", "carol")
    sessions = []
    for account in accounts:
        files = acting.files_of(account)
        assert isinstance(files, UserFiles) and files.list(str(tmp_path)) == []
        sessions.append(files.session)
    assert [session.is_open for session in sessions] == [False, True, True]
    with sessions[1].one(), sessions[2].one(), pytest.raises(Unreached, match="being transferred"):
        acting.files_of("anna").list("/")
    assert acting.files_of("anna").list(str(tmp_path)) == []
    acting.close()
    assert not any(session.is_open for session in sessions)


def test_a_server_that_does_not_answer_is_left_alone_for_a_while() -> None:
    """Its user may have stopped it: that must not hold up others time after time."""
    transport = RunAsTransport(LocalTransport({}), Own(_program("sleep"), "60"), command_timeout=1)
    files = transport.files_of("anna")
    with pytest.raises(Unreached, match="`sftp_server`"):
        files.list("/")
    with pytest.raises(Unreached, match="not answered"):
        files.list("/")
    transport.close()


def test_a_server_that_stops_answering(acting: RunAsTransport, tmp_path: Path) -> None:
    files = acting.files_of("anna")
    assert isinstance(files, UserFiles)
    with pytest.raises(CommandLost, match="no answer"), files.session.one():
        raise TimeoutError
    with pytest.raises(Unreached, match="not answered"):
        files.list(str(tmp_path))
    with pytest.raises(UnknownOutcome, match="not answered"):
        Gates(files).look([str(tmp_path)])


def test_sudo_is_given_the_words_and_nothing_else() -> None:
    asked = Command(("sbatch", "--chdir=/a b"), b"script", 5.0, env=(("A", "b"),), account="anna")
    made = by_sudo(asked, "/opt/slurm/bin/")
    words = ("sudo", "-n", "-u", "anna", "--", "/opt/slurm/bin/sbatch", "--chdir=/a b")
    assert made == Command(words, b"script", 5.0, env=(("A", "b"),))
    assert by_sudo(asked).argv[5] == "sbatch"
    assert by_ids(asked) is asked


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("sudo: a password is required\n", True),
        ("Sorry, user mbsvc is not allowed to execute '/bin/sh' as anna on head.\n", True),
        ("\nmbsvc is not in the sudoers file.\n", True),
        ("sudo: unknown user anna\nsudo: error initializing audit plugin\n", True),
        ("sbatch: error: Batch job submission failed: sudo: no\n", False),
        ("sudo: unable to resolve host login1: No such name\nsbatch: error: no\n", False),
        ("sudo: setrlimit(RLIMIT_CORE): Operation not permitted\n", False),
        ("sudo: a warning of tomorrow\nsbatch: error: no\n", False),
        ("sudo: unable to resolve host login1: No such name\nsudo: a password is required\n", True),
        ("sudo: unable to resolve host login1: No such name\nanna may not run sudo here\n", True),
        ("", False),
    ],
)
def test_what_sudo_says_where_it_runs_nothing(said: str, refused: bool) -> None:
    assert (refusal(said) is not None) is refused


def test_nobody_becomes_root_or_nobody_at_all() -> None:
    transport = RunAsTransport(LocalTransport({}), by_ids)
    for account, why in (("root", "is root"), ("no-such-user", "there is no account")):
        with pytest.raises(NotAllowed, match=why):
            transport.run(Command(("true",), account=account))
    transport.close()


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None
    return found


def test_of_what_was_read_little_is_remembered_and_nothing_of_a_folder_that_is_removed(
    files: UserFiles, tmp_path: Path
) -> None:
    folder = tmp_path / ".metabroker" / "mb-1"
    files.make_folder(str(folder))
    for number in range(20):
        files.write(f"{folder}/out.{number}", b"x" * 60_000)
        files.write(f"{folder}/ended", b"0\n")
        files.bulk_read([str(folder)], [f"out.{number}", "ended"])
    assert sum(len(content) for _mark, content in files._kept.values()) < 1000
    assert files._kept
    files.remove_tree(str(folder))
    assert not files._kept
