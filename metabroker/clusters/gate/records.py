"""What a component has written down beside its token file. It is a user's to write.

That of the start is written in its place. A note is whole once its line has ended, and not there
before.
"""

from __future__ import annotations

import contextlib
import re

from metabroker.clusters.port import ComponentRecord, Writer
from metabroker.clusters.transports.base import MOST_BYTES, BulkRead

from . import outbox
from .positions import Position, Spoilt, known

ARRIVED = "arrived"
READY = "ready"
STARTED = "started"
BEGUN = "begun"  # in place of `started` on a full disk: empty, it tells the time alone
ENDED = "ended"
RECORDS = (ARRIVED, READY, STARTED, ENDED)
_HOST = re.compile(r"[A-Za-z0-9][][A-Za-z0-9_.,-]{0,254}")  # or a list that is not expanded
_MOST_HOSTS = 10_000
_LAST = 2.0**32  # Unix seconds: in the year 2106
_NATIVE = re.compile(rb"\bid=([A-Za-z0-9][A-Za-z0-9_.-]{0,254})\n?\Z")
_EXIT = re.compile(r"([0-9]{1,3})( [a-z ]*)?\n")


def read(seen: BulkRead, gate: str) -> ComponentRecord | None:
    """What the records say. They are a user's to write: what cannot be is not believed."""
    entries = None
    with Spoilt():
        entries = seen.list(gate)
    if entries is None:
        return None
    times = {known(entry.name): _moment(entry.modified) for entry in entries}
    start = _note(seen, gate, STARTED) if STARTED in times else b""
    there = not times.keys().isdisjoint((ARRIVED, READY))
    notes = _arrivals(seen, gate) if there else []
    arrival = next((note for note in (*notes, start) if hosts_of(note)), b"")
    exit_code, signalled = _end(seen, gate) if ENDED in times else (None, False)
    begun = Position.RUN.value in times
    started = times.get(STARTED if start else BEGUN) if begun else None
    return ComponentRecord(
        arrived=READY in times or any(notes),
        hosts=hosts_of(arrival),
        begun=begun,
        # The token file has the time when it was made. Until the start is written down, a moment
        # after it was taken, its time is not known.
        started=started,
        ended=times[ENDED] if exit_code is not None else None,
        exit_code=exit_code,
        signalled=signalled,
        gave_up=Position.ABORT.value in times,
        writer=None if started is None else _writer(start, times[Position.RUN.value], started),
        arrival=arrival,
        outbox=outbox.newest(times),
    )


def next_of(record: ComponentRecord) -> tuple[str, ...]:
    """The names that appear in a gate next, where this was the last that was seen in it."""
    if record.started is not None:
        return outbox.name_of(record.outbox + 1), ENDED
    if record.begun:
        return (STARTED,)
    return (Position.RUN.value,) if record.arrived else (ARRIVED, Position.RUN.value)


def _writer(record: bytes, made: float, started: float) -> Writer | None:
    """Which job says that it has started the script."""
    told = _NATIVE.search(record)
    return None if told is None else Writer(told[1].decode(), made, started)


def _moment(time: float) -> float:
    """A file's time, which its owner may set to any: within those that can be told on. Whether it
    is one of the job's is the core's to say."""
    return min(time, _LAST) if time >= 0.0 else 0.0


def _record(seen: BulkRead, path: str) -> bytes:
    """What stands in a record; nothing in what is no plain file."""
    with contextlib.suppress(OSError):
        return seen.read(path) or b""
    return b""


def _arrivals(seen: BulkRead, gate: str) -> list[bytes]:
    """The notes of the arrival, up to the one that names the hosts. A note that is renamed just
    then is under its other name."""
    notes = [_note(seen, gate, ARRIVED)]
    return notes if hosts_of(notes[0]) else [*notes, _note(seen, gate, READY)]


def _note(seen: BulkRead, gate: str, name: str) -> bytes:
    """What stands in a note; nothing as long as that is not whole."""
    record = _record(seen, f"{gate}/{name}")
    return record if record.endswith(b"\n") or len(record) >= MOST_BYTES else b""


def hosts_of(record: bytes) -> tuple[str, ...]:
    """The hosts that a record names."""
    words = record.decode("ascii", "replace").split()
    return tuple(word for word in words[:_MOST_HOSTS] if _HOST.fullmatch(word))


def _end(seen: BulkRead, gate: str) -> tuple[int | None, bool]:
    """Exit code and whether it was signalled; (None, False) of a record that is not whole, or
    tells what no script can end with: then its cluster's word is all there is."""
    told = _EXIT.fullmatch(_record(seen, f"{gate}/{ENDED}").decode("ascii", "replace"))
    if told is None or int(told[1]) > 255:
        return None, False
    return int(told[1]), "signalled" in (told[2] or "").split()
