"""A soak by hand.

    python -m benchmarks.soak [--minutes 30] [--seed 1] [--brokers 1] [--json] [--report FILE]

It ends with 1, and with the stories of the jobs, if a promise was broken or the daemon's memory or
open files rise.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from . import report as text
from .soak import Plan, soak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--users", type=int, default=48, help="jobs under way at a time")
    parser.add_argument(
        "--brokers", type=int, default=1, help="more than one share a PostgreSQL database"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report (Markdown)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # all that was started is ended
    folder = Path(tempfile.mkdtemp(prefix="mb-soak-"))
    folder.chmod(0o755)
    print(f"seed {options.seed}, in {folder}", file=sys.stderr)
    plan = Plan(60 * options.minutes, options.seed, options.users, brokers=options.brokers)
    outcome = soak(plan, folder, lambda line: print(line, file=sys.stderr, flush=True))
    told = text.markdown(outcome.report)
    if options.report:
        options.report.write_text(told)
    print(json.dumps(outcome.report, indent=1) if options.json else told)
    for story in outcome.stories:
        print(story, file=sys.stderr)
    if outcome.verdict.violations:
        print(f"seed {options.seed}: VIOLATIONS; all that is left: {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    if not text.flat(outcome.report):
        print("the daemon's memory or open files rise", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
