"""A user at work: `asking` in a process of that account."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.testbed.accounts import People, open_code

Json = dict[str, Any]
_ASKING = Path(__file__).with_name("asking.py").read_text()


def asks(
    people: People, who: str, socket: Path, jobs: Sequence[Json], *more: str
) -> subprocess.Popen[str]:
    """Have that user submit these jobs (or whatever `more` says, see `asking`)."""
    home = str(people.home(who))
    words = [*people.words(who, reading=True), f"PYTHONPATH={open_code()}"]
    with tempfile.TemporaryFile("w+") as lines:
        lines.writelines(json.dumps(_wire(home, job)) + "\n" for job in jobs)
        lines.seek(0)
        return subprocess.Popen(
            [*words, sys.executable, "-c", _ASKING, str(socket), *more],
            stdin=lines,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )


def _wire(home: str, job: Json) -> Json:
    """The submission as it crosses the socket: one processor, a minute."""
    return {
        "script_name": "script",
        "processors": {"single": 1},
        "chdir": home,
        "submit_dir": home,
        "time_limit": 60,
        "output": "/dev/null",
        **job,
        "script": base64.b64encode(job["script"].encode()).decode(),
    }
