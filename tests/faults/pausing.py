"""`metabroker serve` that holds up chosen jobs, each at a moment of its own. For tests only.

    python -m tests.faults.pausing --config FILE --flags FOLDER --hold WHEN:STEP:CLUSTER:JOB ...

WHEN is `before` or `after` (see `tests.daemon.killing`). A job that has come to its moment is told
by the file `held-JOB`, and waits there for the file `go-JOB`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from metabroker.broker.effects import PendingEffect
from metabroker.config import load
from metabroker.daemon.main import serve
from metabroker.runtime.execution import STEPS

PAUSE = 0.02


@dataclass(frozen=True)
class Moment:
    """One step of one job in one cluster, in the first attempt."""

    when: str
    step: str
    cluster: int
    job: int

    @classmethod
    def of(cls, when: str, effect: PendingEffect) -> Moment:
        return cls(when, STEPS[type(effect)].value, effect.cluster, effect.ref.job)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    parser.add_argument("--flags", type=Path, required=True)
    parser.add_argument("--hold", action="append", default=[])
    options = parser.parse_args()
    config = load(options.config)
    names = list(config.clusters)
    moments = {_moment(text, names) for text in options.hold}

    def hook(when: str, effect: PendingEffect) -> None:
        if effect.ref.attempt == 1 and Moment.of(when, effect) in moments:
            (options.flags / f"held-{effect.ref.job}").touch()
            while not (options.flags / f"go-{effect.ref.job}").exists():
                time.sleep(PAUSE)

    return serve(config, hook=hook)


def _moment(text: str, clusters: list[str]) -> Moment:
    when, step, cluster, job = text.split(":")
    return Moment(when, step, clusters.index(cluster), int(job))


if __name__ == "__main__":
    sys.exit(main())
