"""Results are known to later calls only while the code is the same that has played them."""

from __future__ import annotations

import re
from pathlib import Path

import metabroker
from metabroker.experiments.result_cache import ROOMS

_IMPORTED = re.compile(r"^(?:from|import) metabroker\.(\w+)", re.M)
_SAY_ONLY = {"config", "errors"}  # what is wrong with a file


def test_all_that_plays_is_looked_at() -> None:
    root = Path(metabroker.__file__).parent
    texts = [path.read_text() for room in ROOMS for path in (root / room).rglob("*.py")]
    assert len(texts) > 100
    imported = {room for text in texts for room in _IMPORTED.findall(text)}
    assert imported - _SAY_ONLY <= set(ROOMS)
