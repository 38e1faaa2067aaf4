"""Which jobs a poll asks for beside those that are not over: the ones that were there a while ago.

To ask the server for all that have ended would take a command more for each poll. It is asked for
them only now and then, for what was neither submitted nor seen since the broker was started.
"""

from __future__ import annotations

from collections.abc import Iterable

HISTORY = 300.0
"""How far back ended jobs are looked for, in seconds."""
_EVERY = 60.0  # seconds between two looks for all that have ended


class Known:
    """Ids of one account's jobs. Told of by all of the cluster's threads."""

    def __init__(self) -> None:
        self.history = False
        """whether the server remembers jobs that have ended"""
        self._at: float | None = None
        self._seen: dict[str, float | None] = {}  # when last; None: submitted since the last poll

    def submitted(self, identity: str) -> None:
        """A job that the server has from now on."""
        self._seen.setdefault(identity, None)

    def incomplete(self, now: float) -> bool:
        """Whether the server is to be asked for all that have ended."""
        return self._at is None or not 0 <= now - self._at < _EVERY

    def complete(self, now: float, ended: Iterable[str], *, history: bool) -> None:
        """It was asked, at `now` in Unix seconds."""
        self._at, self.history = now, history
        for identity in ended:
            self._seen.setdefault(identity, now)

    def look(self, now: float, live: Iterable[str]) -> list[str]:
        """Whom to ask for, as these are not over: them, and those that may just have ended, where
        the server would know."""
        live = dict.fromkeys(live, now)
        for identity, seen in list(self._seen.items()):
            if seen is None or now < seen:
                self._seen[identity] = now
            elif now - seen > HISTORY:
                del self._seen[identity]
        self._seen |= live
        return list(live | self._seen) if self.history else list(live)
