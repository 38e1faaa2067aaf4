"""The advice for a site: all settings that fit, tried on its log and compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from metabroker.experiments.result_cache import play
from metabroker.simulation.executor import Executor

from .effects import LEVEL, WEEK, Effect, effects, groups
from .settings import Family, Setting, families
from .site import Floats, Site, Tried, Waits

ALL = "all jobs"


class NoAdvice(ValueError):
    """The setting in force cannot be replayed on this log: the message says why."""


@dataclass(frozen=True)
class Compared:
    """A setting, and its effects beside the one in force. `refused`: why it could not be tried."""

    setting: Setting
    effects: tuple[Effect, ...] = ()
    refused: str = ""

    def of(self, who: str) -> Effect | None:
        """The effect on some jobs."""
        return next((effect for effect in self.effects if effect.who == who), None)

    @property
    def worse(self) -> list[Effect]:
        """For whom it certainly gets worse."""
        return [effect for effect in self.effects if effect.certain and effect.sign > 0]


@dataclass(frozen=True)
class Chapter:
    """What was compared within a family. `wait`: the mean wait of all jobs by the one in force."""

    family: Family
    wait: float
    compared: tuple[Compared, ...]

    @property
    def best(self) -> Compared | None:
        """The setting that certainly makes the mean wait of all jobs shorter, and most so; None:
        there is none, so nothing is to be changed."""
        found = [
            (effect.change, place)
            for place, each in enumerate(self.compared)
            if (effect := each.of(ALL)) is not None and effect.certain and effect.sign < 0
        ]
        return self.compared[min(found)[1]] if found else None


@dataclass(frozen=True)
class Advice:
    """All of it. `logged`: the mean wait that the log itself tells, None: it tells none; `load`:
    the part of the processors that its jobs used, from the first submission to the last."""

    site: Site
    jobs: int
    weeks: int
    left_out: int
    load: float
    logged: float | None
    chapters: tuple[Chapter, ...]

    def as_json(self) -> dict[str, Any]:
        """The document of `advise --json`. Waits in seconds."""
        return {
            "log": {
                "file": self.site.title or self.site.file,
                "clusters": dict(zip(self.site.names, self.site.processors, strict=True)),
                "jobs": self.jobs,
                "weeks": self.weeks,
                "left_out": self.left_out,
                "load": self.load,
                "mean_wait": self.logged,
            },
            "level": LEVEL,
            "advice": [_chapter(chapter) for chapter in self.chapters],
        }


def advise(site: Site, now: str, executor: Executor) -> Advice:
    """Try everything that fits. `now`: the policy in force.

    Raises NoAdvice, TraceError, and ValueError for a log without a job that fits.
    """
    replay = site.replay()
    jobs, entries = list(replay.jobs()), list(replay.entries())
    submits = np.array([job.submit for job in jobs])
    co_allocated = any(not job.request.single for job in jobs)
    tried = families(len(site.processors), now, co_allocated)
    each = dict.fromkeys(s for family in tried for s in (family.now, *family.others))
    tasks = [Tried(site, setting) for setting in each]
    outcomes: list[Waits] = executor.map(play, [(task, 0) for task in tasks])
    waits = dict(zip((task.setting for task in tasks), outcomes, strict=True))
    chapters = []
    for family in tried:
        if waits[family.now].refused:
            raise NoAdvice(f"{family.now.name}: {waits[family.now].refused}")
        before = waits[family.now].waits
        if np.isnan(before).all():  # no job of the log would come through the broker
            continue
        who = groups(jobs, entries, site.processors, family.now)
        compared = [_compared(s, waits[s], submits, before, who) for s in family.others]
        chapters.append(Chapter(family, float(np.nanmean(before)), tuple(compared)))
    span = max(1.0, float(submits[-1]))
    area = sum(job.request.total * job.run_time for job in jobs)
    logged = [entry.wait for entry in entries if entry.wait >= 0]
    return Advice(
        site,
        len(jobs),
        int(span // WEEK) + 1,
        site.left_out,
        area / span / sum(site.processors),
        float(np.mean(logged)) if logged else None,
        tuple(chapters),
    )


def _compared(
    setting: Setting, found: Waits, submits: Floats, before: Floats, who: Any
) -> Compared:
    if found.refused:
        return Compared(setting, refused=found.refused)
    return Compared(setting, tuple(effects(submits, before, found.waits, who)))


def _chapter(chapter: Chapter) -> dict[str, Any]:
    best = chapter.best
    return {
        "about": chapter.family.about,
        "now": {"name": chapter.family.now.name, "set": chapter.family.now.keys},
        "mean_wait": chapter.wait,
        "set": None if best is None else best.setting.keys,
        "tried": [
            {
                "name": each.setting.name,
                "set": each.setting.keys,
                "simulator_only": not each.setting.live,
                "refused": each.refused or None,
                "effects": [_effect(effect) for effect in each.effects],
            }
            for each in chapter.compared
        ],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "who": effect.who,
        "jobs": effect.jobs,
        "before": effect.before,
        "after": effect.after,
        "change": [effect.low, effect.change, effect.high],
        "certain": effect.certain,
    }
