"""1,000 users, each with a token, over TLS; with limits that some of what they ask is beyond.

The users are accounts in a copy of /etc/passwd which only the daemon sees (a mount namespace): the
host keeps its own. That needs root.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.federation import Federation, await_clusters, resident
from benchmarks.measures import free_port
from metabroker.api.client import Client
from tests.security.certificates import Authority

from .clients import Door, Tally, Task, all_at_once
from .daemons import Loaded, occupied, small

Json = dict[str, Any]
WAITING = 8  # jobs that one user may have waiting
EACH = 10  # that each user submits
RATE, BURST = 1.0, 4  # submissions a second, and how many seconds' worth at once
_CLUSTERS = 20
_FIRST_ID = 700_000
_HIDDEN = 'mount --bind "$1" /etc/passwd && shift && exec "$@"'


def users(number: int) -> Json:
    """Each submits some more than may wait, and faster than one may."""
    if os.geteuid() != 0:
        raise SystemExit("metabroker load: --parts users needs root, for accounts of its own")
    names = [f"user{index:04d}" for index in range(number)]
    with _serving(names) as (where, url, authority):
        doors, seconds = _doors(where, url, authority, names)
        before = resident(where.federation.daemon.pid)
        stays = occupied(where)
        tasks = [
            Task(doors[name], [where.wire(f"{name}-{n}") for n in range(EACH)], patient=False)
            for name in names
        ]
        tally, passed = all_at_once(tasks)
        return {
            "users": number,
            "tokens_a_second": number / seconds,
            "memory": {"before": before, "after": resident(where.federation.daemon.pid)},
            "submit": tally.figures(passed),
            **_limits(where, tally, names),
            **where.lost(stays | tally.jobs),
        }


def _limits(where: Loaded, tally: Tally, names: list[str]) -> Json:
    """Whether each user has what may wait and no more, and how the others were refused."""
    jobs = where.federation.client.get("jobs")["jobs"]
    waiting = Counter(job["user"] for job in jobs)
    beyond = re.compile(rf"user (user\d+) has {WAITING} jobs waiting.*limits\.per_user\.waiting.*;")
    often = re.compile(r"too many submissions of (user\d+): .* a second .*; try again in \d+ s")
    return {
        "users_with_all_they_may": sum(waiting[name] == WAITING for name in names),
        "beyond_the_limit": len(tally.refused),
        "told_whose_limit": sum(beyond.search(text) is not None for text in tally.refused),
        "too_often": len(tally.too_often),
        "told_when_to_come": sum(
            often.search(text) is not None and after is not None for text, after in tally.too_often
        ),
        "again_after": statistics.mean([after or 0.0 for _, after in tally.too_often] or [0.0]),
        "failures": tally.failed[:5],
        "for_example": [*tally.refused[:1], *(text for text, _ in tally.too_often[:1])],
    }


def _doors(
    where: Loaded, url: str, authority: Path, names: list[str]
) -> tuple[dict[str, Door], float]:
    """A token for each user, made by root, in a file of its own."""
    client = where.federation.client

    def door(name: str) -> tuple[str, Door]:
        made = client.create_token({"scope": "submit", "seconds": 3600, "user": name})
        file = where.federation.folder / f"{name}.token"
        file.touch(mode=0o600)
        file.write_text(made["token"])
        return name, Door(url, file, authority)

    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        doors = dict(pool.map(door, names))
    return doors, time.monotonic() - began


@contextlib.contextmanager
def _serving(names: list[str]) -> Iterator[tuple[Loaded, str, Path]]:
    """A daemon that knows these users, over TLS; its URL, and who has signed its certificate."""
    with tempfile.TemporaryDirectory(prefix="metabroker-bench-") as place:
        folder = Path(place)
        accounts = [f"{n}:x:{_FIRST_ID + i}:65534::/:/bin/sh" for i, n in enumerate(names)]
        passwd = folder / "passwd"
        passwd.write_text(Path("/etc/passwd").read_text() + "\n".join(accounts) + "\n")
        passwd.chmod(0o644)
        authority = Authority(folder)
        certificate, key = authority.sign("localhost")
        port, metrics = free_port(), f"127.0.0.1:{free_port()}"
        config = {
            "store": f"sqlite:///{folder}/metabroker.db",
            "socket": f"{folder}/metabroker.sock",
            "metrics": metrics,
            "allow_root": True,
            "policy": "GS",
            "listen": {
                "address": f"127.0.0.1:{port}",
                "certificate": str(certificate),
                "key": str(key),
            },
            "submitters": names,
            "submitters_share_everything": True,
            "limits": {"per_user": {"waiting": WAITING}},
            "rates": {"requests": 1000, "submissions": RATE, "burst": BURST},
            "clusters": small(_CLUSTERS, shared_dir=f"{folder}/meet"),
        }
        file = folder / "metabroker.yaml"
        file.write_text(json.dumps(config))
        serve = [sys.executable, "-m", "metabroker", "serve", "--config", str(file)]
        with (folder / "daemon.log").open("wb") as log:
            daemon = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", _HIDDEN, "sh", str(passwd), *serve],
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        client = Client(folder / "metabroker.sock", timeout=300.0)
        try:
            await_clusters(client)
            where = Loaded(Federation(folder, client, daemon), metrics)
            yield where, f"https://localhost:{port}", authority.file
        finally:
            daemon.terminate()
            daemon.wait(60)
