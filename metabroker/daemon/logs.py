"""The daemon's log on stderr: plain lines, JSON, or records of systemd's journal.

Under systemd stderr is a stream to the journal, and JOURNAL_STREAM names it (systemd.exec(5)). Then
records go to the journal's own socket instead, which takes fields; where that cannot be reached,
lines with the priority in front (sd-daemon(3)) go to the stream.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TextIO

from metabroker.about import fields_of

log = logging.getLogger(__name__)

LogFormat = Literal["auto", "text", "json", "journal"]

JOURNAL = Path("/run/systemd/journal/socket")
_NOISY = ("apscheduler", "alembic", "aiohttp")
_ERROR = 3  # syslog's number of it


def start(wanted: LogFormat = "auto") -> None:
    """Log from now on: in the wanted form, or by default in the one that stderr's reader takes."""
    logging.basicConfig(level=logging.INFO, handlers=[handler(wanted)])
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # A look that lasts longer than the interval between two is told by its executor, once, and not
    # again by the scheduler for each one that it leaves out.
    logging.getLogger("apscheduler.scheduler").setLevel(logging.ERROR)
    threading.excepthook = thread_failed


def thread_failed(failed: threading.ExceptHookArgs) -> None:
    """A thread has ended in an error. One of a library's own, whose connection has broken, has told
    that to who waits for it: that is one line here, and anything else a traceback."""
    kind, error = failed.exc_type, failed.exc_value
    name = failed.thread.name if failed.thread is not None else "a thread"
    broken = issubclass(kind, EOFError | OSError) or kind.__module__.startswith("paramiko.")
    if broken:
        log.warning("%s: a connection broke: %s %s", name, kind.__name__, error)
        return
    trace = (kind, error if error is not None else kind(), failed.exc_traceback)
    log.error("%s has failed", name, exc_info=trace)


def handler(
    wanted: LogFormat, stream: TextIO | None = None, journal: Path = JOURNAL
) -> logging.Handler:
    """What takes the records."""
    stream = sys.stderr if stream is None else stream
    if wanted == "journal" or (wanted == "auto" and is_journal(stream)):
        try:
            return JournalHandler(journal)
        except OSError:
            form: logging.Formatter = PriorityLines()
    else:
        form = JsonLines() if wanted == "json" else TextLines()
    made = logging.StreamHandler(stream)
    made.setFormatter(form)
    return made


def is_journal(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the stream is the one to the journal; a daemon's child may have another one."""
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return environment.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def complain(text: str) -> None:
    """One line on stderr for who started the daemon, before there is a log or instead of it."""
    prefix = f"<{_ERROR}>" if is_journal(sys.stderr) else ""
    print(f"{prefix}metabroker: {text}", file=sys.stderr)


class TextLines(logging.Formatter):
    """LEVEL logger: message."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")


class PriorityLines(logging.Formatter):
    """The same, each line with its priority in front: <4>logger: message."""

    def __init__(self) -> None:
        super().__init__("%(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        prefix = f"<{priority(record.levelno)}>"
        return "\n".join(prefix + line for line in super().format(record).splitlines())


class JsonLines(logging.Formatter):
    """One JSON object in a line."""

    def format(self, record: logging.LogRecord) -> str:
        data: dict[str, object] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            data["exception"] = self.formatException(record.exc_info)
        return json.dumps(data)


class JournalHandler(logging.Handler):
    """Records with fields, to the journal's socket. Raises OSError where that is not there."""

    def __init__(self, journal: Path) -> None:
        super().__init__()
        # Only the daemon needs it, and no other command shall wait for its import.
        from logging_journald import JournaldTransport

        # By its path each time: a journal that was restarted has another socket there.
        self._journal = JournaldTransport(journal, connected=False)
        if not journal.is_socket():
            raise FileNotFoundError(journal)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._journal.send(journal_fields(record, self.format(record)).items())
        except Exception:
            self.handleError(record)


def journal_fields(record: logging.LogRecord, text: str) -> dict[str, str]:
    """The record as fields of the journal; `text` is its message, a traceback included."""
    fields = {
        "MESSAGE": text.encode(errors="backslashreplace").decode(),
        "PRIORITY": str(priority(record.levelno)),
        "SYSLOG_IDENTIFIER": "metabroker",
        "LOGGER": record.name,
        "CODE_FILE": record.pathname,
        "CODE_LINE": str(record.lineno),
        "CODE_FUNC": record.funcName or "",
    }
    for name, value in fields_of(record).items():
        fields[f"METABROKER_{name.upper()}"] = str(value)
    return fields


def priority(level: int) -> int:
    """syslog's number for a level of Python's."""
    for least, number in ((logging.CRITICAL, 2), (logging.ERROR, _ERROR), (logging.WARNING, 4)):
        if level >= least:
            return number
    return 6 if level >= logging.INFO else 7
