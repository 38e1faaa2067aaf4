"""Load, by hand.

    python -m benchmarks.load [--submissions 10000] [--waiting 100000] [--users 1000]
                              [--ended 1000000] [--parts burst,waiting,slow,users,history]
                              [--json] [--report FILE]

It ends with 1 if a job was lost or made twice, or a limit did not answer as it should.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .history import history
from .parts import burst, waiting
from .report import markdown, sound
from .slow import slow
from .users import users

Json = dict[str, Any]
_PARTS = ("burst", "waiting", "slow", "users", "history")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=100_000)
    parser.add_argument("--ended", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=400, help="beside the slow clusters")
    parser.add_argument("--parts", default=",".join(_PARTS))
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report (Markdown)")
    options = parser.parse_args()
    known: dict[str, Callable[[], Json]] = {
        "burst": lambda: burst(options.submissions),
        "waiting": lambda: waiting(options.waiting),
        "slow": lambda: slow(options.jobs),
        "users": lambda: users(options.users),
        "history": lambda: history(options.ended, options.waiting),
    }
    found = {}
    for name in options.parts.split(","):
        print(f"{name} ...", file=sys.stderr, flush=True)
        found[name] = known[name]()
        if options.report:  # what is known by then
            options.report.write_text(markdown(found))
    print(json.dumps(found, indent=1) if options.json else markdown(found))
    wrong = sound(found)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
