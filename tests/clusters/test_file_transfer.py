"""Files of a component, sent and brought back part by part; what goes wrong on the way."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.states import Cause
from metabroker.clusters import submit_directory
from metabroker.clusters.file_transfer import fetching, sending, work_folder
from metabroker.clusters.operation import Operation, Pause
from metabroker.clusters.port import (
    ClusterRefusal,
    FetchRequest,
    StageRequest,
    Transferred,
    UnknownOutcome,
)
from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports.base import CommandLost, Listed, Unreached
from metabroker.clusters.transports.local_files import LocalFiles
from tests.clusters.refusals import refused
from tests.world.virtual.filesystem import FileSystem
from tests.world.virtual.system import System, on


class Shaky(LocalFiles):
    """Files whose steps `fails` may end: it is told the step's name and how many there were."""

    def __init__(self) -> None:
        self.fails: Callable[[str, int], None] = lambda _step, _count: None
        self.steps: list[str] = []
        self.most = 0  # bytes of one part

    def _step(self, name: str) -> None:
        self.steps.append(name)
        self.fails(name, self.steps.count(name))

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        self.most = max(self.most, len(content))
        super().put(path, offset, content, executable=executable)
        self._step("put")

    def get(self, path: str, offset: int, length: int) -> bytes:
        self._step("get")
        return super().get(path, offset, length)

    def tree(self, path: str) -> Sequence[Listed]:
        self._step("tree")
        return super().tree(path)


def carried(operation: Operation[Transferred], stop_after: int | None = None) -> Transferred | None:
    """Carried out; None: stopped at a pause."""
    pauses = 0
    try:
        while True:
            assert isinstance(next(operation), Pause)
            pauses += 1
            if pauses == stop_after:
                operation.close()
                return None
    except StopIteration as end:
        done: Transferred = end.value
        return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("submit", "cluster"):
        (tmp_path / name).mkdir()
    return tmp_path


def stage(folder: Path, *names: str, again: bool = False) -> StageRequest:
    gate = str(folder / "cluster" / ".metabroker" / "gate")
    return StageRequest(gate, str(folder / "submit"), names, again)


def fetch(folder: Path, *patterns: str, again: bool = False) -> FetchRequest:
    gate = str(folder / "cluster" / ".metabroker" / "gate")
    return FetchRequest(gate, str(folder / "submit"), "metabroker-1.0", patterns, again)


def test_files_keep_their_names_contents_and_modes(folder: Path) -> None:
    (folder / "submit" / "a" / "b").mkdir(parents=True)
    (folder / "submit" / "a" / "b" / "in").write_bytes(bytes(range(256)))
    (folder / "submit" / "empty").write_bytes(b"")
    (folder / "submit" / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "submit" / "run").chmod(0o755)
    order, files = stage(folder, "a/b/in", "empty", "run"), Shaky()
    assert carried(sending(files, LocalSubmitDirectory(), order, 100)) == Transferred(3, 266)
    assert files.most == 100, "never more than a part is held"
    work = Path(work_folder(order.gate))
    assert (work / "a" / "b" / "in").read_bytes() == bytes(range(256))
    assert (work / "empty").read_bytes() == b""
    assert os.access(work / "run", os.X_OK)
    assert not list(Path(order.gate).glob("unfinished-*/*"))


def test_what_is_whole_is_not_sent_again(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / "submit" / name).write_bytes(b"x" * 250)
    files = Shaky()
    assert (
        carried(sending(files, LocalSubmitDirectory(), stage(folder, "one", "two"), 100), 4) is None
    )
    files.steps.clear()
    again = stage(folder, "one", "two", again=True)
    assert carried(sending(files, LocalSubmitDirectory(), again, 100)) == Transferred(2, 500)
    assert files.steps.count("put") == 3
    work = Path(work_folder(again.gate))
    assert [(work / name).read_bytes() for name in ("one", "two")] == [b"x" * 250] * 2


def test_a_part_of_an_earlier_try_that_is_written_late_does_no_harm(folder: Path) -> None:
    """Nobody heard of it, so all was sent again; and while that is on its way, it comes."""
    for name, content in (("one", b"1" * 250), ("two", b"2" * 250)):
        (folder / "submit" / name).write_bytes(content)
    late: list[tuple[str, int, bytes]] = []
    again = False

    class Late(Shaky):
        def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
            if not again:
                late.append((path, offset, content))
            super().put(path, offset, content, executable=executable)
            for each in late if again else ():
                with contextlib.suppress(OSError):
                    LocalFiles.put(self, *each)

    def fails(name: str, count: int) -> None:
        if (name, count) == ("put", 3):
            raise CommandLost("cut")

    files = Late()
    files.fails = fails
    with pytest.raises(UnknownOutcome):
        carried(sending(files, LocalSubmitDirectory(), stage(folder, "one", "two"), 100))
    files.fails = lambda _name, _count: None
    again = True
    carried(sending(files, LocalSubmitDirectory(), stage(folder, "one", "two", again=True), 100))
    work = Path(work_folder(stage(folder).gate))
    assert (work / "one").read_bytes() == b"1" * 250
    assert (work / "two").read_bytes() == b"2" * 250


@pytest.mark.parametrize(
    ("error", "expected", "cause"),
    [
        (CommandLost("cut"), UnknownOutcome, None),
        (Unreached("no way"), ClusterRefusal, Cause.UNREACHABLE),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), ClusterRefusal, Cause.UNREACHABLE),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), ClusterRefusal, Cause.OWN),
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT)), ClusterRefusal, Cause.OWN),
    ],
)
@pytest.mark.parametrize("step", ["put", "tree", "get"])
def test_what_ends_a_step_ends_the_transfer(
    folder: Path, step: str, error: Exception, expected: Any, cause: Cause | None
) -> None:
    (folder / "submit" / "in").write_bytes(b"x" * 300)
    files = Shaky()

    def fails(name: str, count: int) -> None:
        if (name, count) == (step, 1):
            raise error

    carried(sending(files, LocalSubmitDirectory(), stage(folder, "in"), 100))
    files.steps.clear()
    files.fails = fails
    operation = (
        sending(files, LocalSubmitDirectory(), stage(folder, "in", again=step == "tree"), 100)
        if step == "put"
        else fetching(files, LocalSubmitDirectory(), fetch(folder, "*"), 100)
    )
    with pytest.raises(expected) as caught:
        carried(operation)
    assert getattr(caught.value, "cause", None) is cause  # not ours
    assert ".metabroker" not in str(caught.value), "the gate's path is a secret"


def test_a_file_that_is_not_there_or_changes_is_its_users_matter(folder: Path) -> None:
    with refused(Cause.OWN, "none cannot be sent: it is not in"):
        carried(sending(Shaky(), LocalSubmitDirectory(), stage(folder, "none"), 100))
    source, files = folder / "submit" / "in", Shaky()
    source.write_bytes(b"x" * 300)

    def changes(_name: str, _count: int) -> None:
        source.write_bytes(b"y" * 301)

    files.fails = changes
    with refused(Cause.OWN, "it was changed while it was sent"):
        carried(sending(files, LocalSubmitDirectory(), stage(folder, "in"), 100))


def test_results_come_back_under_their_names(folder: Path) -> None:
    work = Path(work_folder(fetch(folder).gate))
    (work / "deep").mkdir(parents=True)
    (work / "deep" / "result").write_bytes(b"r" * 250)
    os.utime(work / "deep" / "result", (7, 7))
    (work / "other").write_bytes(b"")
    done = carried(fetching(LocalFiles(), LocalSubmitDirectory(), fetch(folder, "deep"), 100))
    assert done == Transferred(1, 250)
    home = folder / "submit" / "metabroker-1.0"
    assert (home / "deep" / "result").read_bytes() == b"r" * 250
    assert (home / "deep" / "result").stat().st_mtime == 7
    assert not (home / "other").exists()


def test_a_result_that_is_home_is_not_brought_again_unless_it_is_another(folder: Path) -> None:
    work = Path(work_folder(fetch(folder).gate))
    work.mkdir(parents=True)
    (work / "r").write_bytes(b"first")
    os.utime(work / "r", (7, 7))
    files = Shaky()
    for order, content, moved in (
        (fetch(folder, "r"), b"first", 1),
        (fetch(folder, "r", again=True), b"first", 0),
        (fetch(folder, "r", again=True), b"other", 1),  # of a later run, as long
        (fetch(folder, "r"), b"other", 1),
    ):
        if (work / "r").read_bytes() != content:
            (work / "r").write_bytes(content)
        files.steps.clear()
        carried(fetching(files, LocalSubmitDirectory(), order))
        assert files.steps.count("get") == moved
        assert (folder / "submit" / "metabroker-1.0" / "r").read_bytes() == content


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/etc/passwd", "a//b", ".", "bad\ufffd"])
def test_a_name_that_a_cluster_makes_up_leads_nowhere(folder: Path, path: str) -> None:
    class Lying(LocalFiles):
        def tree(self, _path: str) -> Sequence[Listed]:
            return [Listed(path, 3, 1)]

        def get(self, _path: str, _offset: int, _length: int) -> bytes:
            return b"bad"

    before = sorted(folder.rglob("*"))
    with refused(Cause.INVALID, "cannot be used here"):
        carried(fetching(Lying(), LocalSubmitDirectory(), fetch(folder, "**", ".*", "..", "*")))
    assert sorted(folder.rglob("*")) == before


def results(folder: Path, **contents: bytes) -> dict[str, bytes]:
    """What a component has left, in a folder of its work folder."""
    work = Path(work_folder(fetch(folder).gate)) / "out"
    work.mkdir(parents=True)
    for name, content in contents.items():
        (work / name).write_bytes(content)
    return {f"out/{name}": content for name, content in contents.items()}


@pytest.mark.parametrize("step", ["put", "finish", "clear"])
def test_what_a_former_leader_does_late_spoils_no_result(folder: Path, step: str) -> None:
    """It was stopped when it was about to do that; the next one brings all, and reports it, and
    that step is done then, or in the middle of it."""
    made = results(folder, one=b"1" * 250, two=b"2" * 250)
    late: list[Callable[[], None]] = []

    class Home(LocalSubmitDirectory):
        def __init__(self, stops: bool) -> None:
            self.stops = stops

        def put(self, folder: str, new: str, offset: int, content: bytes) -> None:
            self._step("put", lambda: LocalSubmitDirectory.put(self, folder, new, offset, content))

        def finish(self, folder: str, new: str, made: Listed) -> None:
            self._step("finish", lambda: LocalSubmitDirectory.finish(self, folder, new, made))

        def clear(self, folder: str, name: str) -> None:
            self._step("clear", lambda: LocalSubmitDirectory.clear(self, folder, name))

        def _step(self, name: str, what: Callable[[], None]) -> None:
            if self.stops and name == step:
                late.append(what)
                raise CommandLost("it does not lead any more")
            what()

    for moment in range(12):
        with pytest.raises(UnknownOutcome):
            carried(fetching(LocalFiles(), Home(True), fetch(folder, "**"), 100))
        trying = fetching(LocalFiles(), Home(False), fetch(folder, "**"), 100)
        carried(trying, moment) if moment else None
        for each in late:
            with contextlib.suppress(OSError):
                each()
        late.clear()
        with contextlib.suppress(UnknownOutcome):
            carried(trying)
        carried(fetching(LocalFiles(), Home(False), fetch(folder, "**", again=True), 100))
        home = folder / "submit" / "metabroker-1.0"
        assert {n: (home / n).read_bytes() for n in made} == made
        assert {path.name for path in home.iterdir()} == {"out"}


@pytest.mark.parametrize("stop", [None, *range(1, 8)])
def test_results_that_are_reported_outlive_a_loss_of_power(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop: int | None
) -> None:
    """Wherever an earlier try was stopped."""
    made = results(folder, one=b"1" * 250, two=b"")
    monkeypatch.setattr(submit_directory, "os", System())
    disk = FileSystem(lambda: 0.0)
    disk.make_folders("/submit")
    disk.sync(disk.root)
    order = replace(fetch(folder, "**"), folder="/submit")
    with on(disk):
        if stop is not None:
            carried(fetching(LocalFiles(), LocalSubmitDirectory(), order, 100), stop)
        again = replace(order, again=stop is not None)
        assert carried(fetching(LocalFiles(), LocalSubmitDirectory(), again, 100)) is not None
    disk.lose_power()
    into = "/submit/metabroker-1.0"
    assert {name: disk.read(f"{into}/{name}") for name in made} == made
    assert disk.names(into) == ["out"]


@given(st.integers(0, 12), st.integers(1, 5), st.integers(1, 4))
def test_wherever_it_is_stopped_it_goes_on_to_the_same_end(
    tmp_path_factory: pytest.TempPathFactory, size: int, part: int, stop: int
) -> None:
    folder = tmp_path_factory.mktemp("stop")
    for name in ("submit", "cluster"):
        (folder / name).mkdir()
    content = bytes(range(size))
    for name in ("x", "y"):
        (folder / "submit" / name).write_bytes(content)
    carried(sending(LocalFiles(), LocalSubmitDirectory(), stage(folder, "x", "y"), part), stop)
    carried(
        sending(LocalFiles(), LocalSubmitDirectory(), stage(folder, "x", "y", again=True), part)
    )
    work = Path(work_folder(stage(folder).gate))
    assert {p.name: p.read_bytes() for p in work.iterdir()} == {"x": content, "y": content}
    carried(fetching(LocalFiles(), LocalSubmitDirectory(), fetch(folder, "*"), part), stop)
    carried(fetching(LocalFiles(), LocalSubmitDirectory(), fetch(folder, "*", again=True), part))
    home = folder / "submit" / "metabroker-1.0"
    assert {p.name: p.read_bytes() for p in home.iterdir()} == {"x": content, "y": content}
