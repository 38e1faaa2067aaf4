"""How long siblings are at their gates: what they hold there, they hold for nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from metabroker.broker.tokens import Ref


@dataclass(eq=False)
class AtGates:
    """Those of all jobs in line, by what was seen of them. Times in Unix seconds."""

    _since: dict[Ref, float] = field(default_factory=dict)
    _withdrawn: dict[Ref, float | None] = field(default_factory=dict)  # None: not seen there

    def arrived(self, ref: Ref, now: float) -> None:
        """It waits for the broker's choice."""
        self._since[ref] = now

    def chosen(self, ref: Ref, now: float) -> float:
        """It may start; how long it has waited for that, in seconds."""
        return now - self._since.pop(ref, now)

    def withdrawn(self, ref: Ref) -> None:
        """It will not start, and is to be cleaned up."""
        self._withdrawn[ref] = self._since.pop(ref, None)

    def seen_up(self, ref: Ref, now: float) -> None:
        """It has come up, perhaps after it was withdrawn."""
        if self._withdrawn.get(ref, now) is None:
            self._withdrawn[ref] = now

    def cleaned(self, ref: Ref, now: float) -> float | None:
        """Nothing is left of it; for how many seconds it was up and not wanted (None: never)."""
        since = self._withdrawn.pop(ref, None)
        return None if since is None else now - since
