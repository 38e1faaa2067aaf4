"""One daemon for one store: two would act on the same jobs."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from metabroker.store import StoreUnavailable


class LockFile:
    """Holds the lock beside an SQLite store until it is closed, or its process ends.

    Raises:
        StoreUnavailable: another daemon holds it, or the store's folder cannot be written.
    """

    def __init__(self, store: str) -> None:
        self._handle: int | None = None
        if not store.startswith("sqlite:///"):
            return
        path = Path(store.removeprefix("sqlite:///"))
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The database holds users' scripts: it is made readable for this account only.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            self._handle = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreUnavailable(
                f"another daemon uses the store {path}; stop it first, or choose another `store`"
            ) from error
        except OSError as error:
            raise StoreUnavailable(f"store {path}: {error.strerror}") from error

    def close(self) -> None:
        """Let another daemon have the store."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
