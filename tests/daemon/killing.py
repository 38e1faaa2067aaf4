"""`metabroker serve` that dies, or pauses, at a chosen point. For tests only.

    python -m tests.daemon.killing --config FILE [--kill POINT] [--pause POINT --flags FOLDER]
                                   [--told-when-replaced] [--files FILE]

A POINT is `WHEN:STEP[:NTH[:JOB]]` or, for a pause, `WHEN:STEP:CLUSTER`. WHEN is `owed` (the
transaction that owes the step is durable, nothing was carried out), `before` or `after` (it was
carried out, and that is not recorded). A pause makes the file `paused` in FOLDER and lasts until
there is a file `go-on`.

Into the FILE of `--files` goes a line for each step with a file of a cluster, gates among them, as
it begins, whatever has let it through: `TIME PROCESS STEP PATH`. Not what watchers read many of.

With `--told-when-replaced` it gets SIGTERM in the moment in which it notices another leader.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from metabroker.broker.effects import CleanStray, Effect, PendingEffect, Unclaimed, Unwatch, Watch
from metabroker.clusters.transports import fenced
from metabroker.config import load
from metabroker.daemon.daemon import Daemon
from metabroker.daemon.main import serve
from metabroker.runtime.execution import STEPS
from metabroker.store import Store

PAUSE = 0.02
_MANY = ("bulk_read", "is_there")


@dataclass
class Kill:
    """Dies, as if by `kill -9`, when its point is reached for the n-th time."""

    when: str
    step: str
    nth: int = 1
    job: int | None = None
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def parse(cls, text: str) -> Kill:
        when, step, *rest = text.split(":")
        nth, job = [*(int(word) for word in rest), None, None][:2]
        return cls(when, step, nth or 1, job)

    def __call__(self, when: str, effect: PendingEffect) -> None:
        if (when, STEPS[type(effect)].value) != (self.when, self.step):
            return
        if self.job not in (None, effect.ref.job):
            return
        with self._lock:
            self._count += 1
            if self._count == self.nth:
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Pause:
    """Holds up every effect of one step in one cluster until it is told to go on."""

    when: str
    step: str
    cluster: int | None
    flags: Path

    def __call__(self, when: str, effect: PendingEffect) -> None:
        if (when, STEPS[type(effect)].value) != (self.when, self.step):
            return
        if self.cluster not in (None, effect.cluster):
            return
        (self.flags / "paused").touch()
        while not (self.flags / "go-on").exists():
            time.sleep(PAUSE)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    parser.add_argument("--kill", type=Kill.parse)
    parser.add_argument("--pause")
    parser.add_argument("--flags", type=Path)
    parser.add_argument("--told-when-replaced", action="store_true")
    parser.add_argument("--files", type=Path)
    options = parser.parse_args()
    config = load(options.config)
    points: list[Callable[[str, PendingEffect], None]] = [options.kill] if options.kill else []
    if options.pause:
        when, step, *cluster = options.pause.split(":")
        index = list(config.clusters).index(cluster[0]) if cluster else None
        points.append(Pause(when, step, index, options.flags))

    def hook(when: str, effect: PendingEffect) -> None:
        for point in points:
            point(when, effect)

    made = _ToldWhenReplaced if options.told_when_replaced else Daemon
    if options.files:
        fenced.fenced = _noting(fenced.fenced, options.files)
    with (
        mock.patch.object(Store, "commit", _telling(Store.commit, hook)),
        mock.patch("metabroker.daemon.main.Daemon", made),
    ):
        return serve(config, hook=hook)


def _noting(fence: Callable[..., Any], journal: Path) -> Any:
    """Files inside of the fence whose steps write themselves down first."""

    class Noting:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Callable[..., Any]:
            step = getattr(self._inner, name)

            def noted(path: str, *words: Any, **named: Any) -> Any:
                with journal.open("a") as lines:
                    lines.write(f"{time.time()} {os.getpid()} {name} {path}\n")
                return step(path, *words, **named)

            found: Callable[..., Any] = step if name in _MANY else noted
            return found

    return lambda files, permit: fence(Noting(files), permit)


class _ToldWhenReplaced(Daemon):
    """Its core notices first that another broker leads; then it is told to end."""

    def _lost(self) -> None:
        pass

    @property
    def replaced(self) -> bool:
        replaced = super().replaced
        if replaced:
            os.kill(os.getpid(), signal.SIGTERM)
        return replaced


def _telling(commit: Callable[..., None], hook: Callable[[str, PendingEffect], None]) -> Any:
    """`Store.commit`, which tells what is owed once that is durable."""

    def committed(store: Store, batch: Any, names: Any) -> None:
        commit(store, batch, names)
        effects: list[Effect] = batch.ready.effects
        for effect in effects:
            if not isinstance(effect, Watch | Unwatch | CleanStray | Unclaimed):
                hook("owed", effect)

    return committed


if __name__ == "__main__":
    sys.exit(main())
