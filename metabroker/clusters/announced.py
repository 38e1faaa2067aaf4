"""Others' reservations stay known until they are over, or the cluster says that they are gone.

A listing that was cut off between two lines looks whole. Without what it leaves out, a job would be
placed where maintenance comes before its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .command_errors import Garbled
from .operation import Operation


class Announced:
    """Others' reservations as the look before has shown them."""

    def __init__(self) -> None:
        self._until: Mapping[str, float] = {}

    def look(
        self,
        now: float,
        shown: Mapping[str, float],
        there: Iterable[str] = (),
        *,
        is_there: Callable[[str], Operation[bool]],
    ) -> Operation[int]:
        """Compare with what is shown now; answers how many commands that took.

        One that is missing is asked for by itself: the last of them, for what was cut off is a
        listing's end. `now` and the ends of those `shown`: Unix seconds by the cluster's clock;
        `there`: which there are, also if nobody can read them: they stay as they were shown.

        Raises:
            Garbled: it is still there.
        """
        kept = {key: self._until[key] for key in there if key in self._until}
        shown = {**kept, **shown}
        missing = [key for key, end in self._until.items() if key not in shown and end > now]
        if missing and (yield from is_there(missing[-1])):
            raise Garbled(f"a listing that leaves out the reservation {missing[-1][:100]!r}")
        self._until = dict(shown)
        return 1 if missing else 0
