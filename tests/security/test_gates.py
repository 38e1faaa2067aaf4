"""Gates that somebody else would like to be his, over the files of every transport.

The attacker is another account: what he could have done is done here by root, who needs no luck.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.events import Started
from metabroker.broker.input_checks import sound
from metabroker.broker.states import Cause
from metabroker.broker.tokens import Ref
from metabroker.clusters.gate import Gates, former_gate_path, gate_path
from metabroker.clusters.port import ComponentRecord
from metabroker.clusters.transports.base import MOST_ENTRIES, Files
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.local_files import LocalFiles
from metabroker.clusters.transports.run_as import RunAsTransport
from metabroker.clusters.transports.trust import Unsafe
from tests.clusters.gate.making import TOKEN, clean, order
from tests.clusters.refusals import refused
from tests.clusters.transports.conftest import make_far, reach
from tests.clusters.transports.test_user_files import Own
from tests.testbed.accounts import SFTP_SERVER, require_programs
from tests.testbed.sshd import Sshd, account

STRANGER = 65533

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="left out, only root can act as somebody else"),
]


@pytest.fixture(scope="module", params=["local", "ssh", "openssh", "user"])
def kind(request: pytest.FixtureRequest) -> str:
    """How the files are reached."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def files(kind: str, request: pytest.FixtureRequest) -> Iterator[Files]:
    """The files of every transport."""
    if kind == "local":
        yield LocalFiles()
    elif kind == "user":
        if not SFTP_SERVER.exists():
            require_programs()
        acting = RunAsTransport(LocalTransport({}), Own(), command_timeout=20)
        yield acting.files_of("anna")
        acting.close()
    else:
        sshd: Sshd = request.getfixturevalue("sshd")
        transport = make_far(kind, sshd, reach(sshd))
        yield transport.files
        transport.close()


@pytest.fixture
def victim(kind: str) -> int:
    """The account that the files are reached as."""
    return account().uid if kind in ("ssh", "openssh") else 0


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="mb-gates-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def root(open_to_all: Path, victim: int) -> Path:
    """The victim's folder, where gates are."""
    found = open_to_all / "place"
    found.mkdir(mode=0o755)
    os.chown(found, victim, victim)
    return found


@pytest.fixture
def trap(open_to_all: Path) -> Path:
    """The attacker's folder, with what a gate has in it."""
    found = open_to_all / "trap"
    (found / "work").mkdir(parents=True)
    for name in ("go", "script", "file", "work/file", "ended"):
        (found / name).write_text("0 \n")
    for path in (found, *found.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
        path.chmod(0o777)
    return found


def lay(path: Path, trap: Path, how: str) -> None:
    """The attacker's folder, or a link to it, in the place of another."""
    if how == "link":
        path.symlink_to(trap)
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    else:
        trap.rename(path)


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
    }


MakeGate = Callable[..., Path]


@pytest.fixture
def made(root: Path, victim: int) -> MakeGate:
    """Makes the victim's gate, with these files in it."""

    def make(*names: str) -> Path:
        gate = Path(gate_path(str(root), TOKEN, "secret"))
        gate.mkdir(mode=0o700)
        os.chown(gate, victim, victim)
        for name in names:
            (gate / name).write_text("")
            os.chown(gate / name, victim, victim)
        return gate

    return make


CHANGES: dict[str, Callable[[Files, str], object]] = {
    "write": lambda files, folder: files.write(f"{folder}/file", b"mine", executable=True),
    "put": lambda files, folder: files.put(f"{folder}/file", 0, b"mine"),
    "put more": lambda files, folder: files.put(f"{folder}/file", 3, b"mine"),
    "rename": lambda files, folder: files.rename(f"{folder}/go", f"{folder}/abort"),
    "rename there": lambda files, folder: files.rename(
        f"{Path(folder).parent}/mine", f"{folder}/mine"
    ),
    "get": lambda files, folder: files.get(f"{folder}/file", 0, 10),
    "read": lambda files, folder: files.read(f"{folder}/file"),
    "tree": lambda files, folder: files.tree(folder),
    "remove": lambda files, folder: files.remove_tree(folder),
    "make": lambda files, folder: files.make_folder(f"{folder}/work"),
}


@pytest.mark.parametrize("how", ["link", "folder"])
@pytest.mark.parametrize("where", ["gate", "former gate", "former folder"])
def test_a_gate_that_was_exchanged_is_not_used(
    files: Files, root: Path, trap: Path, how: str, where: str, victim: int
) -> None:
    gate = Path(former_gate_path(str(root), TOKEN, "secret", "anna"))
    if where == "gate":
        gate = Path(gate_path(str(root), TOKEN, how))
        lay(gate, trap, how)
    elif where == "former gate":
        gate.parent.mkdir(mode=0o700)
        os.chown(gate.parent, victim, victim)
        lay(gate, trap, how)
    else:
        lay(gate.parent, trap, how)
        gate.mkdir(mode=0o777)
        os.chown(gate, STRANGER, STRANGER)
        (gate / "file").write_text("")
    before = state(gate)
    for what, change in CHANGES.items():
        if what != "rename there":
            with pytest.raises(Unsafe):
                change(files, str(gate))
            assert state(gate) == before, what
    gates = Gates(files)
    with refused(Cause.INVALID, r"replaced|link|somebody else|others may write") as caught:
        gates.prepare(replace(order(root), gate=str(gate)))
    assert "secret" not in caught.value.detail
    assert gates.look([str(gate)]) == {}
    assert gates.shut(clean(str(gate))) is False, "its script may have started"
    gates.remove(str(gate))
    assert state(gate) == before


@pytest.mark.parametrize("how", ["link", "folder"])
@pytest.mark.parametrize("name", ["work", "unfinished-1a2b"])
def test_nothing_goes_through_what_a_folder_of_a_gate_was_exchanged_for(
    files: Files, root: Path, trap: Path, how: str, name: str, victim: int
) -> None:
    gate = Path(gate_path(str(root), TOKEN, "secret"))
    gate.mkdir(mode=0o700)
    (gate / "mine").write_text("mine")
    lay(gate / name, trap, how)
    for path in (gate, gate / "mine"):
        os.chown(path, victim, victim)
    inside = gate / name
    before = state(inside)
    for what, change in CHANGES.items():
        if how == "folder" and (what in ("get", "read", "remove", "tree") or kind_of(files)):
            continue  # what lies in it is the account's to have, and sh cannot tell in one step
        with pytest.raises(OSError):
            change(files, str(inside))
        assert state(inside) == before, what
    assert (gate / "mine").exists()


def kind_of(files: Files) -> bool:
    """Whether these are made of small commands alone."""
    return type(files).__name__ == "CommandFiles"


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o2770])
@pytest.mark.parametrize("above", [False, True])
def test_no_gate_is_made_where_others_could_exchange_it(
    files: Files, root: Path, mode: int, above: bool, victim: int
) -> None:
    inner = root / "inner"
    inner.mkdir(mode=0o755)
    os.chown(inner, victim, victim)
    where = root if above else inner
    os.chown(where, -1, STRANGER)
    where.chmod(mode)
    with refused(Cause.INVALID, f"others may write in {where},.*shared_dir"):
        Gates(files).prepare(order(inner))
    assert list(inner.iterdir()) == []


def test_nor_in_a_folder_of_another_user_nor_by_his_link(
    files: Files, root: Path, trap: Path, victim: int
) -> None:
    (root / "his").mkdir(mode=0o755)
    os.chown(root / "his", STRANGER, STRANGER)
    (root / "link").symlink_to(root)
    os.chown(root / "link", STRANGER, STRANGER, follow_symlinks=False)
    for folder in (root / "his", root / "link"):
        with refused(Cause.INVALID, f"{folder} belongs to another user"):
            Gates(files).prepare(order(folder))
    (root / "mine").symlink_to("../place/./")
    os.chown(root / "mine", victim, victim, follow_symlinks=False)
    Gates(files).prepare(order(root / "mine"))


def test_in_a_folder_for_all_nobody_can_be_first_or_put_another_there(
    files: Files, root: Path, victim: int
) -> None:
    root.chmod(0o1777)
    for name in (".metabroker", ".metabroker-anna"):
        (root / name).mkdir()
        os.chown(root / name, STRANGER, STRANGER)
    it = order(root)
    Gates(files).prepare(it)
    gate = Path(it.gate)
    assert (gate.stat().st_uid, stat.S_IMODE(gate.stat().st_mode)) == (victim, 0o700)

    def attack() -> None:
        os.setuid(STRANGER)
        gate.rename(root / "away")

    child = os.fork()
    if not child:
        try:
            attack()
        except PermissionError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_pipes_as_records_are_not_waited_for(files: Files, made: MakeGate, victim: int) -> None:
    gate = made("run")
    for name in ("arrived", "started", "ended"):
        os.mkfifo(gate / name)
        os.chown(gate / name, victim, victim)
    marks = Gates(files).look([str(gate)])[str(gate)]
    assert (marks.arrived, marks.hosts, marks.begun) == (False, (), True)
    assert (marks.started, marks.exit_code) == (None, None)
    with pytest.raises(OSError, match="symbolic links"):
        files.read(f"{gate}/ended")
    with pytest.raises(OSError):
        files.get(f"{gate}/ended", 0, 10)


def test_names_that_are_no_text_are_left_out(files: Files, made: MakeGate) -> None:
    gate = made("run", "started")
    for name in (b"bad\xff", b"\xfe", b"new\nline"):
        Path(os.fsdecode(bytes(gate) + b"/" + name)).write_text("")
    assert {entry.name for entry in files.list(str(gate)) or ()} == {"run", "started", "new\nline"}
    assert Gates(files).look([str(gate)])[str(gate)].begun
    assert all("\ufffd" in file.path or file.path.isascii() for file in files.tree(str(gate)))
    Gates(files).remove(str(gate))
    assert not gate.exists()


def test_a_gate_full_of_files_is_looked_at_all_the_same(files: Files, made: MakeGate) -> None:
    gate = made("run", "started", "ended")
    (gate / "ended").write_text("3 \n")
    for number in range(MOST_ENTRIES + 50):
        os.close(os.open(gate / f"a-{number}", os.O_CREAT | os.O_WRONLY))
    listed = files.list(str(gate))
    assert listed is not None and len(listed) <= MOST_ENTRIES + 20
    marks = Gates(files).look([str(gate)])[str(gate)]
    assert (marks.begun, marks.exit_code) == (True, 3)
    Gates(files).remove(str(gate))
    assert not gate.exists()


def test_folders_of_any_depth_are_removed(files: Files, made: MakeGate, victim: int) -> None:
    gate = made("run")
    handle = os.open(gate, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", 0o500 if os.geteuid() else 0o700, dir_fd=handle)
        os.chown("d", victim, victim, dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    Gates(files).remove(str(gate))
    assert not gate.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"1" * 23 + b" \n",
        b"256 \n",
        b"-1 \n",
        b"\xb2 \n",
        b"0 \n1 \n",
        b"0 " + b"x" * 70000 + b"\n",
    ],
)
def test_an_end_that_no_script_has_is_none(
    files: Files, made: MakeGate, victim: int, content: bytes
) -> None:
    gate = made("run", "started")
    (gate / "ended").write_bytes(content)
    os.chown(gate / "ended", victim, victim)
    gates = Gates(files)
    assert gates.look([str(gate)])[str(gate)].exit_code is None
    assert gates.remains(str(gate), None).exit_code is None


def test_host_names_are_names(files: Files, made: MakeGate, victim: int) -> None:
    gate = made("wait")
    words = [b"n1", b"$(reboot)", b"bad\xff", b"n-2.example.org", b"x" * 300, b"\x1b[2J", b"n[3-5]"]
    (gate / "arrived").write_bytes(b" ".join(words) + b"\n")
    os.chown(gate / "arrived", victim, victim)
    found = Gates(files).look([str(gate)])[str(gate)]
    assert found == ComponentRecord(arrived=True, hosts=("n1", "n-2.example.org", "n[3-5]"))


@pytest.mark.parametrize("moment", [-(10**9), 10**10])
def test_any_time_of_a_record_can_be_told_on(files: Files, made: MakeGate, moment: int) -> None:
    gate = made("run")
    (gate / "started").write_text("n1\n")
    (gate / "ended").write_text("0 \n")
    for name in ("started", "ended"):
        os.utime(gate / name, (moment, moment))
    marks = Gates(files).look([str(gate)])[str(gate)]
    for told in (marks.started, marks.ended):
        assert told is not None and 0.0 <= told <= 2.0**32
    sound(Started(Ref(1, 1, 0), marks.started or 0.0))
