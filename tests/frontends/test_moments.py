"""Times as `sacct -S` takes them."""

from __future__ import annotations

import calendar
import time

import pytest

from metabroker.frontends.main import FrontEndError
from metabroker.frontends.moments import parse_moment

NOW = "2026-05-14T10:20:30"


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = calendar.timegm(time.strptime(NOW, "%Y-%m-%dT%H:%M:%S"))
    monkeypatch.setattr("metabroker.frontends.moments.time.time", lambda: float(seconds))
    monkeypatch.setattr("metabroker.frontends.moments.time.localtime", time.gmtime)
    monkeypatch.setattr("metabroker.frontends.moments.time.mktime", calendar.timegm)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0504", "2026-05-04T00:00:00"),
        ("050425", "2025-05-04T00:00:00"),
        ("05/04", "2026-05-04T00:00:00"),
        ("5/4/26", "2026-05-04T00:00:00"),
        ("05/04/2026", "2026-05-04T00:00:00"),
        ("05.04.26-14:05", "2026-05-04T14:05:00"),
        ("0504-14:05:06", "2026-05-04T14:05:06"),
        ("1224", "2025-12-24T00:00:00"),  # of last year
        ("0531", "2026-05-31T00:00:00"),  # of this month, as Slurm counts
        ("noon", "2026-05-14T12:00:00"),
        ("Teatime", "2026-05-14T16:00:00"),
        ("midnight", "2026-05-14T00:00:00"),
        ("today", "2026-05-14T00:00:00"),
        ("14:05", "2026-05-14T14:05:00"),
        ("2:05PM", "2026-05-14T14:05:00"),
        ("12:00 am", "2026-05-14T00:00:00"),
        ("2026-05-04", "2026-05-04T00:00:00"),
        ("2026-05-04T14:05", "2026-05-04T14:05:00"),
        ("2026-05-04T14:05:06", "2026-05-04T14:05:06"),
        ("now-1day", "2026-05-13T10:20:30"),
        ("NOW", NOW),
    ],
)
def test_times(text: str, meant: str) -> None:
    assert time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(parse_moment(text))) == meant


@pytest.mark.parametrize(
    "text",
    ["", "0231", "1304", "05/04.26", "25:00", "14:61", "13:00pm", "0:10am", "now-", "soon", "05",
     "\u0660\u0665\u0660\u0664", "2026-05-04 10", "0504T", "0000-01-01", "9" * 400],
)  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(FrontEndError, match="Invalid time specification"):
        parse_moment(text)
