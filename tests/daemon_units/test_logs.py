"""The daemon's log in each of its forms; the journal is a socket of the test's own."""

from __future__ import annotations

import io
import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from metabroker.about import about
from metabroker.broker.tokens import Ref
from metabroker.daemon.logs import JournalHandler, LogFormat, handler, is_journal, thread_failed
from tests.testbed.journal import Journal

ABOUT = about(Ref(17, 2, 1), "delft")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal")
    yield made
    made.close()


@pytest.fixture
def log() -> logging.Logger:
    """With no handler but those of the test: what is odd in a record is for no other's eyes."""
    return logging.Logger("metabroker.test", logging.INFO)


def lines(log: logging.Logger, wanted: LogFormat, stream: TextIO, journal: Path) -> None:
    log.addHandler(handler(wanted, stream, journal))
    log.warning("%s: does not answer", "delft", extra=ABOUT)


def test_the_journal_gets_priority_and_what_a_line_is_about(
    log: logging.Logger, journal: Journal
) -> None:
    log.addHandler(JournalHandler(journal.path))
    log.warning("%s: does not answer", "delft", extra=ABOUT)
    got = journal.next()
    assert got["MESSAGE"] == "delft: does not answer"
    assert got["PRIORITY"] == "4"
    assert got["SYSLOG_IDENTIFIER"] == "metabroker"
    assert got["LOGGER"] == "metabroker.test"
    assert got["METABROKER_JOB"] == "17"
    assert got["METABROKER_COMPONENT"] == "1"
    assert got["METABROKER_CLUSTER"] == "delft"
    log.info("the cluster alone", extra=about(cluster="lab"))
    got = journal.next()
    assert got["METABROKER_CLUSTER"] == "lab" and "METABROKER_JOB" not in got
    log.error("neither")
    got = journal.next()
    assert got["PRIORITY"] == "3" and not [name for name in got if name.startswith("METABROKER_")]


def test_no_text_adds_fields_of_its_own(log: logging.Logger, journal: Journal) -> None:
    log.addHandler(JournalHandler(journal.path))
    evil = "a job's name\nPRIORITY=0\nMETABROKER_JOB=1\udcff"
    try:
        raise ValueError(evil)
    except ValueError:
        log.exception("%s", evil)
    got = journal.next()
    assert got["PRIORITY"] == "3" and "METABROKER_JOB" not in got
    assert got["MESSAGE"].startswith(evil[:-1] + "\\udcff")
    assert "Traceback" in got["MESSAGE"]


def test_what_is_too_long_for_a_datagram_reaches_the_journal(
    log: logging.Logger, journal: Journal
) -> None:
    log.addHandler(JournalHandler(journal.path))
    log.info("x" * 1_000_000, extra=ABOUT)
    got = journal.next()
    assert got["MESSAGE"] == "x" * 1_000_000
    assert got["METABROKER_JOB"] == "17"


def test_a_journal_that_was_started_anew_is_found_again(
    log: logging.Logger, tmp_path: Path
) -> None:
    first = Journal(tmp_path / "journal")
    log.addHandler(JournalHandler(first.path))
    first.close()
    second = Journal(tmp_path / "journal")
    log.info("here")
    assert second.next()["MESSAGE"] == "here"
    second.close()


def test_the_journal_is_written_to_where_stderr_is_its_stream(
    log: logging.Logger, journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "stderr").open("w") as stream:
        monkeypatch.delenv("JOURNAL_STREAM", raising=False)
        assert not is_journal(stream)
        found = os.fstat(stream.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{found.st_dev}:{found.st_ino + 1}")
        assert not is_journal(stream), "redirected since"
        monkeypatch.setenv("JOURNAL_STREAM", f"{found.st_dev}:{found.st_ino}")
        assert is_journal(stream)
        lines(log, "auto", stream, journal.path)
    assert journal.next()["METABROKER_JOB"] == "17"
    assert (tmp_path / "stderr").read_text() == ""


def test_without_the_journals_socket_lines_have_their_priority(
    log: logging.Logger, tmp_path: Path
) -> None:
    stream = io.StringIO()
    lines(log, "journal", stream, tmp_path / "none")
    log.error("two\nlines")
    assert stream.getvalue() == (
        "<4>metabroker.test: delft: does not answer\n<3>metabroker.test: two\n<3>lines\n"
    )


def test_elsewhere_lines_are_plain(log: logging.Logger, journal: Journal) -> None:
    stream = io.StringIO()
    lines(log, "auto", stream, journal.path)
    assert stream.getvalue() == "WARNING metabroker.test: delft: does not answer\n"


def test_json_has_the_same_fields(log: logging.Logger, journal: Journal) -> None:
    stream = io.StringIO()
    lines(log, "json", stream, journal.path)
    got = json.loads(stream.getvalue())
    assert isinstance(got.pop("time"), float)
    assert got == {
        "level": "warning",
        "logger": "metabroker.test",
        "message": "delft: does not answer",
        "job": 17,
        "component": 1,
        "cluster": "delft",
    }


def in_a_thread(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a thread end in an error."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(threading, "excepthook", thread_failed)
    thread = threading.Thread(target=fail, name="reads ahead")
    thread.start()
    thread.join()


def test_a_librarys_thread_whose_connection_breaks_is_one_line(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paramiko.ssh_exception import SSHException

    for error in (EOFError(), OSError("Socket is closed"), SSHException("gone")):
        caplog.clear()
        in_a_thread(error, monkeypatch)
        (record,) = caplog.records
        assert record.levelname == "WARNING" and record.exc_info is None
        assert "reads ahead: a connection broke" in record.getMessage()


def test_a_thread_that_fails_otherwise_leaves_its_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_a_thread(ZeroDivisionError("a mistake"), monkeypatch)
    (record,) = caplog.records
    assert record.levelname == "ERROR" and record.exc_info is not None
