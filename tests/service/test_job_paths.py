"""What is certain to fail for its folder or output is refused; what cannot be seen here is not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from metabroker.api.service import Failure, ServiceError
from metabroker.service.job_paths import Candidate, Paths
from metabroker.submission.model import Processors, Submission
from tests.daemon_units.making import ANNA, House, submission

HERE = Candidate("delft", here=True, meets=True)
SPOOL = Candidate("delft", here=True, meets=False)
FAR = Candidate("leiden", here=False, meets=True)
AS_ANNA = Candidate("delft", here=True, meets=True, account="anna")
ON_DELFT = Processors(single=1, cluster="delft")


@pytest.fixture
def ordinary() -> Iterator[None]:
    """Not as root, to whom every folder is open."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


@pytest.fixture
def closed(tmp_path: Path, ordinary: None) -> Path:
    """A folder that the daemon's account may not write."""
    return Path("/usr/share")


def look(wanted: Submission, places: Iterable[Candidate]) -> str | None:
    paths = Paths()
    try:
        return paths.wrong("anna", wanted, places)
    finally:
        paths.close()


def wrong(folder: Path | str, *places: Candidate, **given: str) -> str | None:
    return look(submission(str(folder), processors=ON_DELFT, **given), places)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert wrong(gone / "below", HERE) == f"there is no folder {gone}"
    assert wrong(gone, AS_ANNA) == f"there is no folder {gone}"
    assert wrong(gone, FAR) is None
    (tmp_path / "file").write_text("")
    assert wrong(tmp_path / "file", HERE) == f"there is no folder {tmp_path / 'file'}"
    assert wrong(tmp_path, HERE) is None


@pytest.mark.parametrize("option", ["output", "error"])
def test_an_output_that_cannot_be_made(tmp_path: Path, option: str) -> None:
    told = wrong(tmp_path, HERE, **{option: "logs/%j.out"})
    assert told == f"there is no folder {tmp_path / 'logs'}"
    (tmp_path / "logs").mkdir()
    assert wrong(tmp_path, HERE, **{option: "logs/%j.out"}) is None
    assert wrong(tmp_path, HERE, **{option: "%j/out"}) is None  # nobody knows before there is a %j
    assert wrong(tmp_path, HERE, **{option: "/dev/null"}) is None


def test_a_file_system_of_the_nodes_alone_is_let_through(tmp_path: Path) -> None:
    assert wrong(tmp_path, HERE, output="/scratch-of-nodes/x.out") is None
    assert wrong("/scratch-of-nodes", SPOOL) is None
    assert wrong("/scratch-of-nodes", HERE) == "there is no folder /scratch-of-nodes"


def test_a_folder_that_the_daemons_account_may_not_write(closed: Path) -> None:
    told = wrong(closed, HERE)
    assert told == f"its jobs run as this daemon's account, which may not write in {closed}"
    assert wrong(closed, AS_ANNA) is None  # it may: only a job as her tells
    assert wrong(closed, SPOOL) == told
    assert wrong(closed, SPOOL, output="/dev/null") is None


def test_where_the_broker_chooses_one_good_cluster_is_enough(tmp_path: Path) -> None:
    anywhere = submission(str(tmp_path / "gone"))
    assert look(anywhere, [HERE, FAR]) is None
    assert look(anywhere, [HERE, HERE]) is not None
    assert wrong(tmp_path / "gone", HERE, FAR) is not None


def test_a_file_system_that_hangs_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from metabroker.service import job_paths

    go_on, hung = threading.Event(), threading.Semaphore(0)

    def hang(_folder: object) -> None:
        hung.release()
        go_on.wait(30)

    monkeypatch.setattr(job_paths, "_PATIENCE", 0.01)
    before = set(threading.enumerate())
    paths = Paths()
    its_own = set(threading.enumerate()) - before
    with monkeypatch.context() as hanging:
        hanging.setattr(job_paths, "_missing", hang)
        for _ in range(10):
            assert paths.wrong("bob", submission(str(tmp_path)), [HERE]) is None
        for _ in range(job_paths._OF_ONE_USER):
            assert hung.acquire(timeout=20)
        assert not hung.acquire(timeout=0.1), "one user leaves a look for others"
    monkeypatch.setattr(job_paths, "_PATIENCE", 20)
    gone = submission(str(tmp_path / "gone"))
    assert paths.wrong("anna", gone, [HERE]) is not None
    assert set(threading.enumerate()) - before == its_own, "no thread is started for a look"
    go_on.set()
    paths.close()
    assert paths.wrong("anna", gone, [HERE]) is None, "a daemon that ends refuses nobody for it"


def test_the_daemon_refuses_it_and_says_what_to_do(house: House) -> None:
    gone = submission(str(house.folder / "gone"))
    with pytest.raises(ServiceError) as caught:
        house.api.submit(ANNA, gone)
    assert caught.value.failure is Failure.INVALID
    assert caught.value.message == (
        f"the job could not write its output: there is no folder {house.folder / 'gone'}"
    )
    assert "-D and -o" in caught.value.advice
    assert house.api.active() == []
