"""The local queue that a job joins."""

from __future__ import annotations

from typing import Any

import pytest

from metabroker.broker.queues import choose_local

# delft 64, leiden 32, lab 16 processors: all idle, all known, nobody waits.
PLAIN: dict[str, Any] = {
    "chosen": None,
    "home": None,
    "sizes": [64, 32, 16],
    "known": [True, True, True],
    "available": [64, 32, 16],
    "waiting": [0, 0, 0],
}


@pytest.mark.parametrize(
    ("largest", "given", "queue"),
    [
        (8, {}, 0),
        # A cluster that the user chose counts for everything, whatever is known of it.
        (8, {"chosen": 2}, 2),
        (99, {"chosen": 2, "known": [True, True, False]}, 2),
        (8, {"chosen": 1, "home": 2}, 1),
        # Then the user's home, if it is large enough and answers.
        (8, {"home": 2}, 2),
        (20, {"home": 2}, 0),
        (8, {"home": 2, "known": [True, True, False]}, 0),
        (8, {"home": 2, "available": [64, 32, 0], "waiting": [0, 0, 99]}, 2),
        # Then the most idle processors, less what waits there already; ties: the first.
        (8, {"available": [10, 32, 16]}, 1),
        (8, {"waiting": [60, 20, 0]}, 2),
        (8, {"available": [20, 20, 16]}, 0),
        (8, {"available": [4, 4, 4], "waiting": [12, 9, 10]}, 1),
        # Only clusters that are large enough; one whose size is not known might be.
        (20, {"available": [0, 1, 16]}, 1),
        (20, {"sizes": [64, 32, 0], "available": [0, 0, 1]}, 2),
        # Among those that answer, if any large enough does.
        (8, {"known": [False, True, True]}, 1),
        (40, {"known": [False, True, True]}, 0),
        (8, {"known": [False, False, False], "available": [0, 0, 0]}, 0),
        # Files decide among those that could have it at once; then as without them.
        (8, {"costs": [30.0, 9.0, 0.0]}, 2),
        (8, {"costs": [30.0, 9.0, 0.0], "available": [64, 32, 7]}, 1),
        (8, {"costs": [30.0, 9.0, 0.0], "waiting": [0, 25, 9]}, 0),
        (8, {"costs": [30.0, 9.0, 9.0], "available": [64, 10, 16]}, 2),
        (8, {"costs": [30.0, 9.0, 9.0], "available": [64, 16, 16]}, 1),
        (8, {"costs": [30.0, 9.0, 0.0], "available": [5, 7, 4]}, 1),
        (8, {"costs": [30.0, 9.0, 0.0], "home": 0}, 0),
        (8, {"costs": [30.0, 9.0, 0.0], "chosen": 1}, 1),
        (20, {"costs": [30.0, 9.0, 0.0]}, 1),
        # Too large for all (a cluster has shrunk): somewhere.
        (99, {}, 0),
    ],
)
def test_choose_local(largest: int, given: dict[str, Any], queue: int) -> None:
    assert choose_local(largest, **(PLAIN | given)) == queue
