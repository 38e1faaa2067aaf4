"""How much of what is random each test plays: a share in `make test`, many times that in
`make random`."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("METABROKER_TEST_TIMES", "1"))


def share(few: int) -> int:
    """So many random cases: `few` of them, or TIMES as many."""
    return few * TIMES
