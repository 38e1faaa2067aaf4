"""What a hostile user submits: a script and more for each kind of trouble.

Each script is polite to the machine that it runs on (`renice`): clusters have nodes of their own,
and here all of them share the processors of the broker's host.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

FILES = 20_000  # of a job that fills its gate, or its work folder
_HEAD = '#!/bin/sh\nrenice 19 $$ >/dev/null\ngate=$(dirname "$METABROKER_PEERS_FILE")\n'
_MANY = f"seq {FILES} | xargs touch\n"
_PRIVATE = "private"  # a partition that is root's alone


def _plain(body: str = "", **more: Any) -> Json:
    return {"script": _HEAD + body, **more}


def _native(word: str) -> Json:
    """An option of sbatch, in whichever cluster it gets to."""
    return _plain(native={"delft": [word], "leiden": [word]})


def _bomb() -> Json:
    """Patterns that are as slow to match as may be, over names that nearly match."""
    names = "mkdir -p a/a/a/a/a/a/a/a && touch a/a/a/a/a/a/a/a/$(printf '%0200d' 0)\n"
    return _plain(names, stage_out=["**/" * 1000 + "*a*a*a*a*b"] * 4)


KINDS: dict[str, tuple[int, Callable[[], Json]]] = {
    "an option that the cluster does not know": (150, lambda: _native("--constraint=nope")),
    "an option that it denies": (150, lambda: _native(f"--partition={_PRIVATE}")),
    "a job that ends at once": (240, _plain),
    "pipes in the place of records": (
        20,
        lambda: _plain('rm -f "$gate/started"; mkfifo "$gate/started" "$gate/ended"\n'),
    ),
    "a huge record": (
        60,
        lambda: _plain(
            'rm -f "$gate/started"; head -c 8000000 /dev/zero > "$gate/started"\n'
            'head -c 8000000 /dev/zero > "$gate/peers"\n'
        ),
    ),
    "odd records": (
        80,
        lambda: _plain('touch -d 2105-01-01 "$gate/started"; echo 99999999999999999999 > ended\n'),
    ),
    "names that are not UTF-8": (
        100,
        lambda: _plain(
            'n=$(printf "bad\\377"); : > "$gate/$n"; : > "$n"; : > out\n', stage_out=["*"]
        ),
    ),
    "a gate full of files": (40, lambda: _plain(f'cd "$gate" && {_MANY}')),
    "a work folder full of files": (40, lambda: _plain(_MANY, stage_out=["*/nothing"])),
    "patterns that are slow to match": (60, _bomb),
    "huge names": (
        60,
        lambda: _plain(
            name="n" * 255,
            args=["x" * 100_000],
            environment={f"V{i}_{'v' * 50}": "e" * 1000 for i in range(400)},
        ),
    ),
}
"""How many of a thousand, and what one is like."""


def hostile(number: int, seed: int = 1) -> list[tuple[str, Json]]:
    """So many jobs of all kinds, shuffled."""
    total = sum(share for share, _ in KINDS.values())
    jobs = [
        (kind, make())
        for kind, (share, make) in KINDS.items()
        for _ in range(max(1, round(share * number / total)))
    ]
    random.Random(seed).shuffle(jobs)
    return jobs
