"""What a component may leave in its gate: any files, of any kind, names, contents and times."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import paramiko
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.states import Cause
from metabroker.clusters.file_transfer import fetching, work_folder
from metabroker.clusters.gate import Gates, gate_path
from metabroker.clusters.operation import Pause
from metabroker.clusters.port import (
    CleanRequest,
    ClusterRefusal,
    ComponentRecord,
    FetchRequest,
    Peer,
    UnknownOutcome,
)
from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports.base import Command, Files
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.local_files import LocalFiles
from metabroker.clusters.transports.remote_files import CommandFiles
from metabroker.clusters.transports.sftp import SftpSession
from metabroker.clusters.transports.sftp_steps import Ways
from metabroker.clusters.transports.user_files import UserFiles
from tests.testbed.accounts import SFTP_SERVER, require_programs

from .cases import fuzzed

WORDS = (
    *("wait", "armed", "go", "run", "abort", ".born"),
    *("arrived", "ready", "started", "begun", "ended"),
)
NAMES = st.one_of(
    st.sampled_from([word.encode() for word in (*WORDS, "work", "peers.json", "script")]),
    st.binary(min_size=1, max_size=40),
    st.text(min_size=1, max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
).filter(lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b".."))
CONTENTS = st.one_of(
    st.sampled_from([b"0\n", b"3 signalled\n", b"9" * 23 + b"\n", b"-1\n", b"256\n", b"", b"\0\n"]),
    st.binary(max_size=200),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.just(b"n " * 200_000),
)
KINDS = st.sampled_from(["file"] * 8 + ["folder", "pipe", "link", "closed"])
TIMES = st.one_of(st.just(None), st.integers(-(2**33), 2**34), st.floats(0, 2**31))


@dataclass(frozen=True)
class Thing:
    """One file in a folder."""

    name: bytes
    kind: str
    content: bytes
    time: float | None

    def make(self, folder: bytes) -> None:
        """Make it, unless there is one of the name, or the file system does not take it."""
        path = folder + b"/" + self.name
        with contextlib.suppress(OSError, OverflowError):
            if self.kind == "folder":
                os.mkdir(path)
            elif self.kind == "pipe":
                os.mkfifo(path)
            elif self.kind == "link":
                os.symlink(b"/etc/passwd", path)
            else:
                with open(path, "xb") as file:
                    file.write(self.content)
                if self.kind == "closed":
                    os.chmod(path, 0)
            if self.time is not None:
                os.utime(path, (self.time, self.time), follow_symlinks=False)


THINGS = st.lists(st.builds(Thing, NAMES, KINDS, CONTENTS, TIMES), max_size=12)


@pytest.fixture(scope="module")
def local() -> Iterator[LocalTransport]:
    yield LocalTransport({}, command_timeout=60.0)


@pytest.fixture(scope="module", params=["local", "by commands", "over SFTP"])
def files(request: pytest.FixtureRequest, local: LocalTransport) -> Iterator[Files]:
    if request.param == "local":
        yield LocalFiles()
    elif request.param == "by commands":
        yield CommandFiles(local.run)
    else:
        require_programs()
        session = SftpSession(
            lambda: paramiko.SFTPClient(local.speak(Command((str(SFTP_SERVER),)))), 60.0
        )
        yield UserFiles(session, Ways(lambda _path, _gid: True))
        session.close()


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mb-fuzz-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def sane(marks: ComponentRecord) -> None:
    """What may be believed of it."""
    assert marks.exit_code is None or 0 <= marks.exit_code <= 255
    assert all(time is None or abs(time) < 2**40 for time in (marks.started, marks.ended))
    assert len(marks.hosts) <= 10_000
    assert all(host.isascii() and host.isprintable() and len(host) < 256 for host in marks.hosts)


@given(THINGS)
@fuzzed
def test_any_gate(files: Files, place: Path, things: list[Thing]) -> None:
    gates = Gates(files)
    good, bad = (gate_path(str(place), f"mb-abcdef01-{n}-1-0", "secret") for n in (1, 2))
    for gate in (good, bad):
        os.mkdir(gate, 0o700)
    try:
        for name, content in (("run", b""), ("started", b"n1 n2\n"), ("ended", b"7 \n")):
            Path(good, name).write_bytes(content)
        for thing in things:
            thing.make(os.fsencode(bad))
        with contextlib.suppress(UnknownOutcome):
            found = gates.look([bad, good])
            assert (found[good].exit_code, found[good].hosts) == (7, ("n1", "n2"))
            if bad in found:
                sane(found[bad])
        peers = (Peer("delft", 4, ("n1",)),)
        for step in (
            lambda: gates.ready(bad),
            lambda: gates.introduce(bad, peers),
            lambda: gates.arm(bad),
            lambda: gates.open(bad, peers),
            lambda: gates.shut(CleanRequest("mb-abcdef01-2-1-0", bad)),
            lambda: gates.remains(bad, Cause.EXIT),
            lambda: gates.remove(bad),
        ):
            with contextlib.suppress(ClusterRefusal, UnknownOutcome):
                step()
        assert gates.look([good])[good].exit_code == 7
    finally:
        for gate in (good, bad):
            shutil.rmtree(gate, ignore_errors=True)


@given(THINGS, st.lists(THINGS, max_size=2))
@fuzzed
def test_any_results(
    files: Files, place: Path, things: list[Thing], below: list[list[Thing]]
) -> None:
    """They come back into their folder and nowhere else, or it is said why not."""
    gate = gate_path(str(place), "mb-abcdef01-3-1-0", "secret")
    home = place / "home"
    home.mkdir()
    work = os.fsencode(work_folder(gate))
    os.mkdir(gate, 0o700)
    os.mkdir(work, 0o700)
    try:
        for thing in things:
            thing.make(work)
        for number, inner in enumerate(below):
            folder = work + b"/d%d" % number
            with contextlib.suppress(OSError):
                os.mkdir(folder)
                for thing in inner:
                    thing.make(folder)
        order = FetchRequest(gate, str(home), "metabroker-1.0", ("**/*",), False)
        with contextlib.suppress(ClusterRefusal, UnknownOutcome):
            assert all(
                isinstance(step, Pause) for step in fetching(files, LocalSubmitDirectory(), order)
            )
        assert {path.name for path in home.iterdir()} <= {"metabroker-1.0"}
        assert not any(path.is_symlink() for path in home.rglob("*"))
    finally:
        shutil.rmtree(home)
        shutil.rmtree(gate, ignore_errors=True)
