"""What is removed at once is bounded: in bytes, and in rows."""

from __future__ import annotations

import pytest

from metabroker.store import ended
from metabroker.store.ended import FIRST, What

from .test_retention import NOW, Site, either, kept_database, kept_url, site

__all__ = ["either", "kept_database", "kept_url", "site"]


def test_jobs_of_many_events_and_components_go_a_few_at_a_time(
    either: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in memory at once, and go in one transaction."""
    site = either
    for number in (1, 2, 3, 4):
        site.has_ended(number, 500 - number)
    site.waits(5)
    whole = site.store.ended.batch(What.EVENTS, NOW, FIRST, 100, 1)
    assert whole is not None and [each.number for each in whole.jobs] == [1, 2, 3, 4]
    rows = [len(each.events) + len(each.components) for each in whole.jobs]
    monkeypatch.setattr(ended, "_ROWS", rows[0] + rows[1])
    for what in What:
        some = site.store.ended.batch(what, NOW, FIRST, 100, 1 << 20)
        assert some is not None and [each.number for each in some.jobs] == [1, 2]
    monkeypatch.setattr(ended, "_ROWS", 0)
    one = site.store.ended.batch(What.JOB, NOW, FIRST, 100, 1 << 20)
    assert one is not None and [each.number for each in one.jobs] == [1]
    site.run()
    assert site.kept() == [5]


def test_scripts_of_many_bytes_go_a_few_at_a_time(site: Site) -> None:
    for number in (1, 2, 3):
        site.has_ended(number, 500 - number)
    site.waits(4)
    found = site.store.ended.batch(What.JOB, NOW, (-1.0, 0), 100, 20)
    assert found is not None and [each.number for each in found.jobs] == [1]
    site.run()
    assert site.kept() == [4]
