"""What was archived, and not removed any more, when a term or a month was over: archived once."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from metabroker.runtime.retention import Periods

from .test_retention import (
    DAY,
    JOBS,
    NAME,
    OLDEST,
    Power,
    Site,
    either,
    kept_database,
    kept_url,
    site,
)

__all__ = ["either", "kept_database", "kept_url", "site"]


def crashes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is due is archived, and the process is gone before it is removed."""

    def remove(*_given: Any) -> None:
        raise Power

    with monkeypatch.context() as patch, contextlib.suppress(Power):
        patch.setattr(site.store.ended, "remove", remove)
        site.run()


def leads(site: Site, periods: Periods = JOBS) -> int:
    """Another broker does, from now on: its term."""
    site.store.leadership.raise_to(site.store.leadership.term())
    site.store.term = term = site.store.leadership.take("another", 60.0)
    assert term is not None
    site.retention = site.anew(periods, suffix=f"-t{term}")
    return term


@pytest.mark.parametrize("some", [False, True], ids=["in its first batch", "in a later one"])
def test_what_a_leader_archived_before_it_died_is_archived_once(
    either: Site, monkeypatch: pytest.MonkeyPatch, some: bool
) -> None:
    """The next leader writes to files of its own."""
    site = either
    for number in (1, 2, 3):
        site.has_ended(number, 500 - number)
    site.waits(4)
    former = leads(site, OLDEST)
    if some:
        site.run()
    site.retention = site.anew(JOBS, suffix=f"-t{former}")
    crashes(site, monkeypatch)
    assert len(site.archived(f"{NAME}-t{former}")) == 3, "with what does not count"
    term = leads(site)
    site.run()
    assert site.kept() == [4]
    counted = [1] if some else []
    assert [job for _what, job in site.archived(f"{NAME}-t{former}")] == counted
    assert [job for _what, job in site.archived(f"{NAME}-t{term}")] == [1, 2, 3][len(counted) :]
    assert (site.folder / f"{NAME}-t{former}.swf").exists() is some
    assert site.logged(f"{NAME}-t{term}") == [1, 2, 3][len(counted) :]


def test_what_the_month_before_was_left_is_archived_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.has_ended(1, 500)
    site.waits(2)
    crashes(site, monkeypatch)
    site.now += 31 * DAY
    site.retention = site.anew()
    site.run()
    assert site.kept() == [2] and site.archived() == []
    assert site.archived("2023-12") == [("job", 1)] and site.logged("2023-12") == [1]


def test_a_stand_by_cuts_back_what_another_host_will_archive_and_no_more(
    either: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = either
    site.has_ended(1, 500)
    site.waits(2)
    former = leads(site)
    crashes(site, monkeypatch)
    archive = site.retention._archive
    archive.settle(site.store.ended.archives(), former - 1)
    assert site.archived(f"{NAME}-t{former}") == [("job", 1)], "it may still lead"
    here, site.folder = site.folder, site.folder.with_name("another host")
    leads(site)
    late = here / f"{NAME}-t{former - 1}.jsonl"
    late.write_text(json.dumps({"archived": "job", "job": 99, "submit_time": 5.0}) + "\n")
    archive.settle(site.store.ended.archives(), former)
    assert [path.name for path in here.iterdir()] == [late.name], "nobody else has that job"
