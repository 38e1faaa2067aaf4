"""The audit log is whole, or the change is refused."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from metabroker.access.audit import AuditError, AuditLog

WHO = {"user": "anna", "uid": 1001, "from": "socket"}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path / "audit.log", lambda: 1_700_000_000.25)


def test_a_change_has_a_line_before_and_one_after(log: AuditLog, tmp_path: Path) -> None:
    number = log.asked(WHO, "cancel", {"job": 7})
    asked = {**WHO, "time": "2023-11-14T22:13:20.250+00:00", "request": number, "action": "cancel",
             "job": 7, "outcome": "asked"}  # fmt: skip
    assert lines(tmp_path / "audit.log") == [asked]
    log.told(number, WHO, "cancel", {"job": 7}, "refused", "it has ended")
    after = {**asked, "outcome": "refused", "reason": "it has ended"}
    assert lines(tmp_path / "audit.log") == [asked, after]


def test_only_its_account_and_group_may_read_it(log: AuditLog, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    log.reopen()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_was_there_stays(tmp_path: Path) -> None:
    for _ in range(2):
        log = AuditLog(tmp_path / "audit.log", lambda: 0.0)
        log.asked(WHO, "submit", {})
        log.close()
    assert len(lines(tmp_path / "audit.log")) == 2


def test_reopened_it_goes_on_in_a_new_file(log: AuditLog, tmp_path: Path) -> None:
    log.asked(WHO, "submit", {})
    (tmp_path / "audit.log").rename(tmp_path / "audit.log.1")
    log.asked(WHO, "submit", {})
    log.reopen()
    log.asked(WHO, "submit", {})
    assert len(lines(tmp_path / "audit.log.1")) == 2
    assert len(lines(tmp_path / "audit.log")) == 1


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    (tmp_path / "audit.log").symlink_to(tmp_path / "target")
    with pytest.raises(AuditError, match="cannot be opened"):
        AuditLog(tmp_path / "audit.log", lambda: 0.0)


def test_what_cannot_be_written_is_refused_and_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = AuditLog(tmp_path / "audit.log", lambda: 0.0)
    number = log.asked(WHO, "submit", {})
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:20]))  # a disk just full
    with pytest.raises(AuditError, match="the disk is full"):
        log.asked(WHO, "cancel", {"job": 1})
    log.told(number, WHO, "submit", {"job": 1}, "done", "")
    assert number in caplog.text  # the daemon's own log has what the file has not
    monkeypatch.undo()
    assert len(lines(tmp_path / "audit.log")) == 1
    log.asked(WHO, "cancel", {"job": 1})
    # What was owed comes first.
    assert [(line["action"], line["outcome"]) for line in lines(tmp_path / "audit.log")] == [
        ("submit", "asked"),
        ("submit", "done"),
        ("cancel", "asked"),
    ]


def test_nobody_breaks_a_line(log: AuditLog, tmp_path: Path) -> None:
    log.told(None, WHO, "read", {}, "refused", 'a\nb\r\x1b[2J"}{\u2028 é')
    (line,) = (tmp_path / "audit.log").read_bytes().splitlines()
    assert json.loads(line)["reason"] == 'a\nb\r\x1b[2J"}{\u2028 é'
    assert line.isascii()


def test_a_full_file_is_put_aside_and_the_oldest_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "audit.log"
    log = AuditLog(path, lambda: 0.0, largest=2000, kept=2)
    for number in range(100):
        log.asked(WHO, "cancel", {"job": number})
    files = [path, tmp_path / "audit.log.1", tmp_path / "audit.log.2"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert all(file.stat().st_size <= 2000 for file in files)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    told = [line["job"] for file in reversed(files) for line in lines(file)]
    assert told == list(range(100))[-len(told) :], "the latest, without a gap"
    assert "audit.log.2 is removed" in caplog.text


def test_a_line_is_bounded(log: AuditLog, tmp_path: Path) -> None:
    log.asked(WHO, "remove leftovers", {"names": ["x" * 60] * 10_000})
    (line,) = lines(tmp_path / "audit.log")
    assert line["outcome"] == "asked" and len(line["shortened"]) < 20_000
    assert (tmp_path / "audit.log").stat().st_size < 40_000
