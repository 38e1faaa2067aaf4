"""Whose components tell each other something though they are of several jobs: who has joined whom.

Of the jobs whose components are watched alone, and only while any of them joins another one: so it
costs the others nothing.
"""

from __future__ import annotations

from collections import defaultdict

from metabroker.broker.tokens import Ref

Key = tuple[int, int]
"""A job and an attempt."""


class Joined:
    """Kept by the carrier, under its lock."""

    def __init__(self) -> None:
        self._joins: dict[Key, int] = {}
        self._ended: dict[Key, int] = {}  # whose last words are still to be passed on
        self._joining: defaultdict[int, set[Key]] = defaultdict(set)
        self._running: defaultdict[int, dict[Key, Ref]] = defaultdict(dict)

    def __bool__(self) -> bool:
        return bool(self._joins)

    def watch(self, ref: Ref, joins: int) -> None:
        """A component is watched, whose job joins this one (0: none)."""
        if joins:
            self._joins[ref[:2]] = joins
            self._joining[joins].add(ref[:2])

    def unwatch(self, ref: Ref) -> None:
        """No component of its attempt is watched any more."""
        key = ref[:2]
        running = self._running.get(ref.job)
        if running is not None and running.pop(key, None) is not None and not running:
            del self._running[ref.job]
        joins = self._joins.pop(key, 0)
        if joins:
            self._ended[key] = joins
            self._joining[joins].discard(key)
            if not self._joining[joins]:
                del self._joining[joins]

    def concerns(self, ref: Ref) -> bool:
        """Whether its job has joined another one, or another one has joined it."""
        return ref[:2] in self._joins or ref[:2] in self._ended or ref.job in self._joining

    def runs(self, ref: Ref) -> list[Ref]:
        """A component of an attempt runs, that takes part: components of those with whose attempts
        its own is linked."""
        self._running[ref.job][ref[:2]] = ref
        joins = self._joins.get(ref[:2])
        if joins is not None:
            return self._of(joins)
        found = []
        for job, attempt in self._joining.get(ref.job, ()):
            other = self._running.get(job, {}).get((job, attempt))
            found += [] if other is None else [other]
        return found

    def joined_by(self, ref: Ref) -> list[Ref]:
        """Components of the attempts that its own, which may have ended, has joined."""
        joins = self._joins.get(ref[:2]) or self._ended.get(ref[:2], 0)
        return self._of(joins) if joins else []

    def is_over(self, ref: Ref) -> None:
        """Nothing is to be passed on of its attempt any more."""
        self._ended.pop(ref[:2], None)

    def _of(self, job: int) -> list[Ref]:
        return list(self._running.get(job, {}).values())
