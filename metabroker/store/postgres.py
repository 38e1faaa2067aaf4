"""PostgreSQL: how it is connected to, so that a server that is gone is noticed within seconds, and
what is written is always something that it takes."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text

from .columns import LARGEST, cleaned, serialized

SILENCE = 10.0  # seconds that a server may take for an answer, or between two parts of it
IDLE_TRANSACTION = 5
"""Seconds that a transaction of the writer's, or about the lease, may be open and do nothing."""
_NAME = "metabroker"
_CONNECT: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
    "application_name": _NAME,
    # What a broker that hangs has open must not keep its successor waiting.
    "options": "-c idle_in_transaction_session_timeout=60s -c statement_timeout=60s",
}
_HURRIED = text(
    "SELECT set_config('lock_timeout', :wait, true),"
    " set_config('idle_in_transaction_session_timeout', :idle, true)"
)
_patience: ContextVar[float | None] = ContextVar("patience", default=None)


def engine_of(url: URL) -> Engine:
    """An engine for a URL of PostgreSQL; what the URL says itself stays in force.

    Raises:
        ImportError: psycopg is not installed.
    """
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(
        url,
        pool_pre_ping=True,
        pool_timeout=SILENCE,
        json_serializer=serialized,
        connect_args={key: value for key, value in _CONNECT.items() if key not in url.query},
    )
    event.listen(engine, "do_connect", _connect)
    return engine


def prepare_writer(connection: Connection) -> None:
    """What holds for the connection that all the jobs are written by."""
    connection.execute(text(f"SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION}s'"))
    # A user is told an id once it is durable: also where the server's default is to wait for less.
    if connection.execute(text("SHOW synchronous_commit")).scalar() == "off":
        connection.execute(text("SET synchronous_commit = on"))
    connection.commit()


_REPLICAS = "SELECT count(*) FILTER (WHERE sync_state = 'async'), count(*) FROM pg_stat_replication"


def may_lose(connection: Connection) -> list[str]:
    """Why this server may lose what it has acknowledged, in words; empty: nothing says so."""
    names = ("fsync", "full_page_writes", "synchronous_commit")
    shown = {name: connection.execute(text(f"SHOW {name}")).scalar_one() for name in names}
    found = [
        f"`{name}` is off: a crash of its host may lose what was acknowledged; turn it on"
        for name in names[:2]
        if shown[name] == "off"
    ]
    behind, all_ = connection.execute(text(_REPLICAS)).one()
    if all_ and (behind == all_ or shown["synchronous_commit"] in ("off", "local")):
        found.append(
            "no replica is waited for: one that is promoted may lack what was acknowledged; "
            "set `synchronous_standby_names`, and `synchronous_commit` to on"
        )
    return found


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """How long the server is waited for in this thread, if not the usual time."""
    before = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(before)


def hurry(connection: Connection, seconds: float) -> None:
    """In this transaction, the server waits for no lock for longer, either: else it would wait on
    for who has long given up, in one more session each time, until it has none left. And what the
    transaction holds is free again soon after this process was stopped."""
    if connection.dialect.name == "postgresql":
        wait = f"{int(800 * seconds)}ms"  # its answer comes before it is given up
        connection.execute(_HURRIED, {"wait": wait, "idle": f"{IDLE_TRANSACTION}s"})


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """What is done in this transaction may take as long as it needs: a migration, that is."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    with patience(math.inf):
        yield


def _connect(_dialect: Any, _record: Any, args: list[Any], named: dict[str, Any]) -> Any:
    return _kind().connect(*args, **named)


@cache
def _kind() -> Any:
    """Its connections. Made when first needed: SQLite does without psycopg."""
    import psycopg
    from psycopg.types.numeric import Int8Dumper
    from psycopg.types.string import StrDumper

    class Text(StrDumper):
        """Text without what PostgreSQL refuses."""

        def dump(self, obj: str) -> Any:
            return super().dump(cleaned(obj))

    class BoundedInt(Int8Dumper):
        """A number as large as a column takes."""

        def dump(self, obj: Any) -> Any:
            return super().dump(max(-LARGEST, min(obj, LARGEST)))

    class Bounded(psycopg.Connection[Any]):
        """A connection that is given up when its server says nothing for too long."""

        @classmethod
        def connect(cls, *args: Any, **named: Any) -> Any:
            made = super().connect(*args, **named)
            made.adapters.register_dumper(str, Text)
            made.adapters.register_dumper(int, BoundedInt)
            return made

        def wait(self, gen: Any, *args: Any, **named: Any) -> Any:
            return super().wait(_watched(gen, self), *args, **named)

    return Bounded


def _watched(steps: Generator[Any, Any, Any], connection: Any) -> Generator[Any, Any, Any]:
    """The same steps of a conversation with the server, which end when nothing comes."""
    import psycopg

    heard = time.monotonic()
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            now = time.monotonic()
            if ready:
                heard = now
            elif now - heard > (most := _patience.get() or SILENCE):
                connection.close()  # or its end would be waited for just as long
                raise psycopg.OperationalError(f"the server has not answered for {most:g} s")
            wanted = steps.send(ready)
    except StopIteration as end:
        return end.value


def told(error: BaseException) -> str:
    """What the server says, in one line and without the rows that it speaks of."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)  # not ours
    words = primary or next(iter(str(error).splitlines()), "") or type(error).__name__
    return " ".join(words.split())
