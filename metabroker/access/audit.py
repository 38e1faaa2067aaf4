"""The audit log: who asked for what, and what became of it; one JSON object on each line.

A change is written down before it is carried out (`"outcome": "asked"`), and once more with its
outcome; both lines have the same `request`. So whatever happens between, no change is without a
line. What a user wrote himself (scripts, environments, names) and secrets stand nowhere in it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

LARGEST = 64 * 1024 * 1024  # bytes of a file
KEPT = 15
_LONGEST = 16 * 1024  # bytes of a line
_SHORT = 1024
_MOST_OWED = 1000  # lines that could not be written, kept until they can


class AuditError(Exception):
    """The log cannot be written: where, and why."""


class AuditLog:
    """An append-only file, and its former ones: PATH.1 is the latest of them. Its calls may come
    from any thread.

    Raises:
        AuditError: it cannot be opened.
    """

    def __init__(
        self, path: Path, clock: Callable[[], float], *, largest: int = LARGEST, kept: int = KEPT
    ) -> None:
        """`largest`: bytes of a file, after which another is begun; `kept`: how many former ones
        there are at most. Of more the oldest is removed."""
        self._path = path
        self._largest = largest
        self._kept = kept
        self._clock = clock
        self._lock = threading.Lock()
        self._owed: list[bytes] = []
        self._file: int | None = None
        self._open()

    def asked(self, who: Mapping[str, Any], action: str, about: Mapping[str, Any]) -> str:
        """Write that somebody asks for a change; the number under which its outcome is told.

        Raises:
            AuditError: it is not written, and the change must not be done.
        """
        request = secrets.token_hex(6)
        line = self._line({"request": request, **who, "action": action, **about}, "asked", "")
        with self._lock:
            try:
                while self._owed:  # a log with gaps is none
                    self._write(self._owed[0])
                    del self._owed[0]
                self._write(line)
            except OSError as error:
                why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror
                raise AuditError(f"the audit log {self._path} cannot be written: {why}") from error
        return request

    def told(
        self,
        request: str | None,
        who: Mapping[str, Any],
        action: str,
        about: Mapping[str, Any],
        outcome: str,
        reason: str,
    ) -> None:
        """Write what became of a request. What cannot be written now is told to the daemon's own
        log, and written before the next change."""
        line = self._line(
            {"request": request or secrets.token_hex(6), **who, "action": action, **about},
            outcome,
            reason,
        )
        with self._lock:
            try:
                self._write(line)
            except OSError as error:
                log.error("audit log %s: %s; %s", self._path, error.strerror, line.decode().strip())
                if len(self._owed) < _MOST_OWED:
                    self._owed.append(line)

    def reopen(self) -> None:
        """Go on in a new file where the old one was moved away. Raises `AuditError`."""
        with self._lock:
            self._close()
            self._open()

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._close()

    def _line(self, entry: Mapping[str, Any], outcome: str, reason: str) -> bytes:
        time = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds")
        whole = {"time": time, **entry, "outcome": outcome}
        if reason:
            whole["reason"] = reason
        made = json.dumps(whole, separators=(",", ":")).encode("ascii")
        if len(made) > _LONGEST:  # of very many names, say
            kept = {key: part for key, part in whole.items() if len(json.dumps(part)) < _SHORT}
            kept["shortened"] = made[:_LONGEST].decode("ascii")
            made = json.dumps(kept, separators=(",", ":")).encode("ascii")
        return made + b"\n"

    def _write(self, line: bytes) -> None:
        """The whole line, or nothing of it."""
        if self._file is None:
            self._file = _opened(self._path)
        before = os.fstat(self._file).st_size
        if before and before + len(line) > self._largest:
            self._begin_another()
            before = 0
        if os.write(self._file, line) != len(line):
            os.ftruncate(self._file, before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _begin_another(self) -> None:
        """Put the full file aside, and those before it further back."""
        former = [Path(f"{self._path}.{number}") for number in range(1, self._kept + 1)]
        if not former:
            os.ftruncate(self._file or 0, 0)
            return
        if former[-1].exists():
            log.warning(
                "audit log: %s is removed; the %d newer files are kept", former[-1], self._kept
            )
        for older, newer in zip(
            reversed(former), [*reversed(former[:-1]), self._path], strict=True
        ):
            with contextlib.suppress(FileNotFoundError):
                os.rename(newer, older)
        self._close()
        self._file = _opened(self._path)

    def _open(self) -> None:
        try:
            self._file = _opened(self._path)
        except OSError as error:
            raise AuditError(
                f"the audit log {self._path} cannot be opened: {error.strerror}; "
                "check `audit` in the configuration, and that this account may write there"
            ) from error

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _opened(path: Path) -> int:
    """The file, made readable for this account alone; a group that may read an old one stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    with contextlib.suppress(PermissionError):  # whoever made it for us has said who reads it
        os.fchmod(file, os.fstat(file).st_mode & 0o640)
    return file
