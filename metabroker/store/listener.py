"""Hears of new rows by PostgreSQL's LISTEN and NOTIFY, so that nobody need look all the time. A
notification may be missed: whoever waits looks now and then all the same."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

_WITHOUT = 0.05  # seconds between two looks where there are no notifications


class Listener:
    """Heard by one thread, over a connection of its own."""

    def __init__(self, engine: Engine, channel: str) -> None:
        self._engine = engine
        self._channel = channel
        self._connection: Connection | None = None

    def wait(self, seconds: float) -> None:
        """Return when it rings, or after so many seconds; never raises."""
        if self._engine.dialect.name != "postgresql":
            time.sleep(min(seconds, _WITHOUT))
            return
        import psycopg

        try:
            raw = self._listening()
            for _ in raw.notifies(timeout=seconds, stop_after=1):
                pass
        except (SQLAlchemyError, psycopg.Error):
            self.close()
            time.sleep(seconds)

    def close(self) -> None:
        """Release the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()
            connection.close()

    def _listening(self) -> Any:
        """The connection, as psycopg has it. What was rung before it listened is not heard."""
        if self._connection is None:
            made = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._connection = made
            made.execute(text(f'LISTEN "{self._channel}"'))
        return self._connection.connection.dbapi_connection
