"""How many cases each property is tried on."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

PROPERTIES = 10
"""Of this folder, over which METABROKER_FUZZ_CASES are spread."""
_SHARE = 25  # cases of each in `make test`

_asked = os.environ.get("METABROKER_FUZZ_CASES", "")
fuzzed = settings(
    max_examples=max(1, int(_asked) // PROPERTIES) if _asked else _SHARE,
    derandomize=not _asked,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
