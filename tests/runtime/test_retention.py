"""What is over its time is archived and then removed, all of it once, whatever fails on the way."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.runtime.retention import Behind, Periods, Retention
from metabroker.store import Store, StoreUnavailable
from metabroker.store.archive import Archive
from metabroker.store.ended import What
from metabroker.store.tables import metadata
from metabroker.traces import swf
from tests.store.conftest import kept_database, kept_url
from tests.store.making import NAMES, Time, accepted, batch, component, entry, job

__all__ = ["kept_database", "kept_url"]
NOW = 1_700_000_000.0  # in November 2023
DAY = 86400.0
PERIODS = Periods(400 * DAY, 90 * DAY, 30 * DAY)
JOBS, OLDEST = Periods(400 * DAY, None, None), Periods(498.5 * DAY, None, None)
NAME = "2023-11"


class Site:
    """A store, and its archive; `spared` and `now` are the test's."""

    def __init__(self, url: str, folder: Path) -> None:
        self.store = Store(url, migrate=not url.startswith("sqlite"), clock=Time())
        with self.store._engine.begin() as connection:
            for table in reversed(metadata.sorted_tables):
                if table.name not in ("facts", "leadership"):
                    connection.execute(delete(table))
        self.folder = folder
        self.spared: Collection[int] = ()
        self.now = NOW
        self.retention = self.anew()

    def anew(self, periods: Periods = PERIODS, suffix: str = "") -> Retention:
        """As after a restart of the daemon."""
        ended = self.store.ended
        kept = Archive(self.folder, ended.archive, ended.submitted, lambda: {"delft": 8}, suffix)
        return Retention(self.store, kept, periods, lambda: self.now, lambda: self._named())

    def _named(self) -> Collection[int]:
        if isinstance(self.spared, Behind):
            raise self.spared
        return self.spared

    def has_ended(self, number: int, days: float, **more: Any) -> None:
        """A job that ended so long ago, with a script, events and a component."""
        part = component(number, phase=Phase.GONE, step=Step.NONE, **more)
        end = self.now - days * DAY
        its = job(number, JobState.COMPLETED, end_time=end, start_time=end - 60, attempt=1)
        its.submit_time = end - 100
        told = [entry(number, what, end) for what in ("submitted", "ended")]
        scripts = [accepted(number, request_id=f"r{number}")]
        self.store.commit(batch(its, components=[part], journal=told, accepted=scripts), NAMES)

    def waits(self, number: int) -> None:
        self.store.commit(batch(job(number), journal=[entry(number)]), NAMES)

    def run(self) -> None:
        self.retention.run(lambda _seconds: False)

    def kept(self) -> list[int]:
        return [row["id"] for row in self.store.jobs.rows()]

    def lines(self, name: str = NAME) -> list[dict[str, Any]]:
        """What stands in a file of the archive; every line can be read."""
        path = self.folder / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def archived(self, name: str = NAME) -> list[tuple[str, int]]:
        return [(line["archived"], line["job"]) for line in self.lines(name)]

    def logged(self, name: str = NAME) -> list[int]:
        return [found.number for found in swf.read(self.folder / f"{name}.swf", strict=False).jobs]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site("sqlite://", tmp_path / "archive")
    yield made
    made.store.close()


@pytest.fixture
def either(kept_url: str, tmp_path: Path) -> Iterator[Site]:
    """Over a database of each kind."""
    made = Site(kept_url, tmp_path / "archive")
    yield made
    made.store.close()


def test_each_part_of_a_job_goes_at_its_time(either: Site) -> None:
    site = either
    for number, days in ((1, 401), (2, 399), (3, 91), (4, 89), (5, 31), (6, 29)):
        site.has_ended(number, days)
    site.waits(7)
    site.run()
    assert site.kept() == [2, 3, 4, 5, 6, 7]
    store = site.store
    assert [n for n in range(2, 8) if store.jobs.events(n)] == [4, 5, 6, 7]
    assert [n for n in range(2, 7) if store.jobs.script(n)[0]] == [6]
    gone = [("job", 1), ("events", 2), ("events", 3)]
    assert site.archived() == [*gone, *(("script", number) for number in (2, 3, 4, 5))]
    state = site.retention.state
    assert state.removed == {"job": 1, "events": 2, "script": 4}
    assert (state.failures, state.last_run, state.trouble) == (0, NOW, "")
    whole = site.lines()[0]
    assert whole["row"]["state"] == "COMPLETED" and whole["components"][0]["cluster"] == "delft"
    assert [event["what"] for event in whole["events"]] == ["submitted", "ended"]
    assert whole["script"]["base64"] and whole["script"]["request_id"] == "r1"
    assert whole["script"]["spec"]["args"] == ["a b", "'\n"] and "secret" not in whole["script"]
    # Done again there is nothing more to do; a year later the rest goes, without its script.
    site.run()
    assert len(site.lines()) == 7
    site.now += 420 * DAY
    site.run()
    assert site.kept() == [7]
    assert site.archived("2025-01") == [("job", number) for number in (2, 3, 4, 5, 6)]
    assert ["script" in line for line in site.lines("2025-01")] == [True] * 5


def test_what_a_job_is_found_by_stays_as_long_as_the_job(site: Site) -> None:
    site.has_ended(1, 31)
    secret = site.store.jobs.meeting_place(1)
    site.waits(2)
    site.run()
    assert site.store.jobs.script(1)[0] == b""
    assert site.store.jobs.find_request("anna", "r1") == 1, "submitted again it is the same job"
    assert site.store.jobs.meeting_place(1) == secret, "what it has left can be found"


HOLDS: dict[str, dict[str, Any]] = {
    "its cluster may have something": {"phase": Phase.ENDED},
    "a step is pending": {"phase": Phase.GONE, "step": Step.CLEAN},
    "its results are kept": {"phase": Phase.GONE, "cause": Cause.RESULTS},
}


@pytest.mark.parametrize("why", HOLDS)
def test_a_job_of_which_a_cluster_holds_something_stays_whole(site: Site, why: str) -> None:
    site.has_ended(1, 500)
    part = component(1, 1, **{"step": Step.NONE, **HOLDS[why]})
    site.store.commit(batch(components=[part]), NAMES)
    site.waits(2)
    site.run()
    assert site.kept() == [1, 2] and site.lines() == []
    assert site.store.jobs.events(1) and site.store.jobs.script(1)[0]


def test_so_does_one_whose_results_were_kept_and_one_that_the_core_names(site: Site) -> None:
    for number in (1, 2, 3):
        site.has_ended(number, 500)
    site.store.commit(batch(journal=[entry(1, "results kept")]), NAMES)
    site.waits(4)
    site.spared = {2}
    site.run()
    assert site.kept() == [1, 2, 4]


def test_nothing_goes_while_the_store_is_behind(site: Site) -> None:
    site.has_ended(1, 500)
    site.waits(2)
    site.spared = Behind("the store is older than the clusters")  # type: ignore[assignment]
    site.run()
    assert site.kept() == [1, 2] and "older" in site.retention.state.trouble


def test_numbers_go_on_though_all_jobs_are_over_their_time(either: Site) -> None:
    for number in (3, 1, 2):  # the last event is of a job that goes
        either.has_ended(number, 500)
    before = either.store.extent().last_event
    either.run()
    assert either.kept() == [3] and either.store.recover(NAMES).next_job == 4
    assert either.store.extent().last_event == before
    either.store.commit(batch(journal=[entry(3)]), NAMES)
    assert either.store.extent().last_event > before, "no event's number is given twice"


def test_the_log_has_the_jobs_and_goes_on_with_its_names(site: Site) -> None:
    for number in (1, 2, 3):
        site.has_ended(number, 500 - number)
    site.waits(4)
    site.retention = site.anew(OLDEST)
    site.run()
    site.retention = site.anew()
    site.run()
    found = swf.read(site.folder / f"{NAME}.swf", strict=True)
    assert [each.number for each in found.jobs] == [1, 2, 3]
    assert {(each.user, each.queue, each.partition) for each in found.jobs} == {(1, 1, 1)}
    assert found.clusters() == {"delft": 8}
    first = found.jobs[0]
    assert (first.submit, first.wait, first.run) == (NOW - 499 * DAY - 100, 40, 60)
    files = sorted(path.name for path in site.folder.iterdir())
    assert files == [f"{NAME}.jsonl", f"{NAME}.swf"]
    assert {path.stat().st_mode & 0o777 for path in site.folder.iterdir()} == {0o600}


# --- crashes and failures -----------------------------------------------------------------------


class Power(BaseException):
    """The process is gone at this moment."""


class Steps:
    """The system calls of the archive: the one of that number fails; "after" it was done."""

    def __init__(self, patch: pytest.MonkeyPatch, fails: int, how: str) -> None:
        self.count, self._fails, self._how = 0, fails, how
        for name in ("open", "write", "fsync", "ftruncate", "close"):
            patch.setattr(os, name, self._step(name, getattr(os, name)))

    def _step(self, name: str, real: Any) -> Any:
        def step(*args: Any, **more: Any) -> Any:
            self.count += 1
            fails = self.count == self._fails
            if fails and self._how == "power" and name == "write":
                real(args[0], args[1][: len(args[1]) // 2])  # half a line
            if fails and self._how == "power":
                raise Power
            if fails and self._how == "full" and name != "close":
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*args, **more)

        return step


@pytest.mark.parametrize("how", ["power", "full"])
def test_wherever_it_breaks_each_job_is_archived_once(tmp_path: Path, how: str) -> None:
    number = 0
    while True:
        number += 1
        site = Site("sqlite://", tmp_path / f"{number}")
        for each in (1, 2, 3):
            site.has_ended(each, 500 - each)
        site.waits(4)
        site.retention = site.anew(OLDEST)
        site.run()  # there is something in the files
        site.retention = site.anew(JOBS)
        with pytest.MonkeyPatch.context() as patch:
            steps = Steps(patch, number, how)
            with contextlib.suppress(Power):
                site.run()
        broke = steps.count >= number
        if how == "full" and site.retention.state.trouble:
            assert "No space left" in site.retention.state.trouble
            assert site.kept() == [2, 3, 4], "nothing is removed that is not archived"
            assert site.archived() == [("job", 1)] and site.logged() == [1], "no half of a line"
        site.retention = site.anew(JOBS)
        site.run()
        assert site.kept() == [4]
        assert site.archived() == [("job", each) for each in (1, 2, 3)]
        assert site.logged() == [1, 2, 3]
        assert site.retention.state.trouble == ""
        site.store.close()
        if not broke:
            break
    assert number > 8


def test_all_of_it_is_on_disk_before_anything_is_removed(site: Site, monkeypatch: Any) -> None:
    site.has_ended(1, 500)
    site.waits(2)
    synced: list[str] = []
    real, remove = os.fsync, site.store.ended.remove

    def fsync(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        real(handle)

    def removed(*given: Any) -> None:
        synced.append("removed")
        remove(*given)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(site.store.ended, "remove", removed)
    site.run()
    files = {f"{NAME}.jsonl", f"{NAME}.swf", "archive", site.folder.parent.name}
    assert set(synced[: synced.index("removed")]) == files


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_removal_that_fails_is_made_good(site: Site, monkeypatch: Any, when: str) -> None:
    for number in (1, 2):
        site.has_ended(number, 500)
    site.waits(3)
    real = site.store.ended.remove

    def remove(*given: Any) -> None:
        if when == "after":
            real(*given)
        raise StoreUnavailable("the answer to the commit was lost")

    with monkeypatch.context() as patch:
        patch.setattr(site.store.ended, "remove", remove)
        site.run()
    assert "lost" in site.retention.state.trouble
    site.run()
    assert site.kept() == [3] and site.archived() == [("job", 1), ("job", 2)]
    assert site.retention.state.trouble == "" and site.retention.state.failures == 1


def test_a_job_that_changes_meanwhile_is_kept(site: Site, monkeypatch: Any) -> None:
    site.has_ended(1, 500)
    site.waits(2)
    real = site.retention._archive.append

    def append(_self: Archive, what: What, jobs: Any, now: float) -> Any:
        site.store.commit(batch(components=[component(1, phase=Phase.ENDED)]), NAMES)
        return real(what, jobs, now)

    with monkeypatch.context() as patch:
        patch.setattr(Archive, "append", append)
        site.run()
    assert site.kept() == [1, 2]
    site.store.commit(batch(components=[component(1, phase=Phase.GONE, step=Step.NONE)]), NAMES)
    site.run()
    assert site.kept() == [2] and site.archived() == [("job", 1)]


def test_what_the_store_does_not_have_is_never_cut(site: Site) -> None:
    site.has_ended(1, 500)
    site.waits(2)
    site.folder.mkdir()
    line = json.dumps({"archived": "job", "job": 99, "submit_time": 5.0})
    (site.folder / f"{NAME}.jsonl").write_text(f"{line}\n")
    site.run()
    assert site.archived() == [("job", 99)] and site.archived(f"{NAME}.2") == [("job", 1)]


def test_a_file_that_was_taken_away_is_not_missed(site: Site) -> None:
    for number in (1, 2):
        site.has_ended(number, 500 - number)
    site.waits(3)
    site.retention = site.anew(OLDEST)
    site.run()
    (site.folder / f"{NAME}.jsonl").rename(site.folder / "elsewhere")
    site.retention = site.anew(JOBS)
    site.run()
    assert site.archived(f"{NAME}.2") == [("job", 2)] and site.logged() == [1]


def test_a_store_that_comes_back_from_a_backup_archives_again_what_is_in_it(site: Site) -> None:
    site.has_ended(1, 500)
    site.waits(2)
    site.run()
    back = Site("sqlite://", site.folder)
    back.has_ended(1, 500)
    back.waits(2)
    back.run()
    assert back.kept() == [2] and back.archived() == [("job", 1)]
    back.store.close()


def test_another_leader_writes_to_files_of_its_own(either: Site) -> None:
    site = either
    site.has_ended(1, 500)
    site.has_ended(2, 500)
    site.waits(3)
    mine = site.store.leadership.take("a", 60.0)
    assert mine is not None
    site.store.term, site.retention = mine - 1, site.anew(suffix=f"-t{mine - 1}")
    site.run()  # it is the leader of a term that is over
    assert site.kept() == [1, 2, 3]
    site.store.term, site.retention = mine, site.anew(suffix=f"-t{mine}")
    site.run()
    assert site.kept() == [3]
    assert site.archived(f"{NAME}-t{mine}") == [("job", 1), ("job", 2)]
    site.store.leadership.release(mine)
