"""One soak, from the first job to the verdict."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.daemon.harness import Site, eventually

from . import faults as faulty
from . import verdict as judging
from .faults import Faults, Lives
from .fleet import House, house
from .kind import Everywhere, everywhere
from .leading import Moment, turns
from .sampler import Gauge, at_rest, figures
from .users import People
from .verdict import Truth, Verdict
from .work import CODES, INPUT, plans

Json = dict[str, Any]
BOUND = 60.0  # seconds until nothing is left, once all is healed and the last job has ended (P4)
_DRAIN = 420.0  # seconds in which the last jobs must end, once all is healed
_OWED = 60.0
_BEFORE, _LONG = 30.0, 300.0  # seconds before and after, of which a story tells the faults
_SETTLE = 2.0  # seconds until a daemon that has nothing to do has come to rest
SETTINGS: Json = {
    "policy": "EQ-LF",
    "poll_interval": "1s",
    "retries": {"submission": 6, "completion": 0},
    "timeouts": {"command": "6s", "reserve": "20s", "submit": "30s", "barrier": "30s"},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how hard."""

    seconds: float
    seed: int
    users: int = 24
    pace: float = 20.0  # seconds between two faults of a cluster, on average
    longest: float = 10.0  # seconds of a fault, at most
    short: float = 25.0  # seconds of a short life of the daemon, on average
    long: float = 0.5  # of the whole: a long life
    longs: int = 1
    every: float = 10.0  # seconds between two samples
    brokers: int = 1  # more than one share a database
    overtime: bool = True  # some jobs run into their time limit
    kinds: Mapping[str, int] = field(default_factory=lambda: faulty.ALL)


@dataclass
class Outcome:
    """What came of it."""

    plan: Plan
    folder: Path
    seconds: float = 0.0
    jobs: dict[int, Json] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=Verdict)
    report: Json = field(default_factory=dict)
    stories: list[str] = field(default_factory=list)


def soak(plan: Plan, folder: Path, say: Callable[[str], None]) -> Outcome:
    """Run it over clusters of its own. A simulated one belongs to one daemon."""
    with (
        everywhere({"sim": 64} if plan.brokers == 1 else {}) as kind,
        house(folder, kind, plan.brokers, SETTINGS) as brokers,
    ):
        (brokers.sites[0].work / INPUT).write_text("input of a soak\n")
        return _run(plan, brokers, kind, say)


def _run(plan: Plan, brokers: House, kind: Everywhere, say: Callable[[str], None]) -> Outcome:
    site = brokers.sites[0]
    outcome = Outcome(plan, site.folder)
    lives = _lives(plan, brokers)
    for one in lives:
        one.start()
    site.look_at_clusters()
    jobs = plans(plan.seed, kind.sizes, overtime=plan.overtime)
    people = People(brokers.sites, jobs, plan.users, f"soak-{plan.seed}")
    faults = Faults(plan.seed, plan.pace, plan.longest, plan.kinds)
    gauge = Gauge(lives[0].living, plan.every)
    sampling = threading.Thread(target=gauge.run, daemon=True)
    began = time.monotonic()
    sampling.start()
    people.start()
    _let_loose(faults, lives, brokers, kind)
    try:
        _watch(plan.seconds, people, faults, lives, say)
    finally:
        people.stop()
        faults.stop()
        gauge.stop()
    for one in lives:
        # Its faults have ended before their time, which is told below, or the database was away.
        if one.living() is None:
            one.start()
    late = people.wait(_DRAIN)
    sampling.join()
    say("healed; all jobs have ended" if not late else f"{len(late)} jobs have not ended")
    outcome.seconds = time.monotonic() - began
    for told in late:
        outcome.verdict.broken(told.job, f"liveness: not ended {_DRAIN:g} s after all was healed")
    left = _leftovers(site, outcome.verdict)
    for accident in [*faults.accidents, *people.accidents]:
        outcome.verdict.broken(None, accident)
    quiet = _quiet(lives[0])  # before it is asked for all its history
    _judge(outcome, brokers, people, faults)
    outcome.report["left_after_seconds"] = left
    if brokers.database is None:
        outcome.report["daemon"] = {**figures(gauge.samples), "quiet": {"last": quiet}}
    else:
        outcome.report["brokers"] = _led(outcome.verdict, brokers, lives)
    _finish(outcome, brokers, lives, people, faults)
    outcome.report["violations"] = [
        {"job": job, "what": what} for job, what in outcome.verdict.violations
    ]
    return outcome


def _lives(plan: Plan, brokers: House) -> list[Lives]:
    alone = brokers.database is None
    return [
        Lives(
            site,
            plan.long * plan.seconds,
            plan.longs if alone else 0,
            plan.short,
            plan.seconds,
            name,
            brokers.excused,
        )
        for site, name in zip(brokers.sites, brokers.names, strict=True)
    ]


def _let_loose(faults: Faults, lives: list[Lives], brokers: House, kind: Everywhere) -> None:
    for name, cluster in kind.clusters.items():
        faults.run(
            lambda draw, cluster=cluster: faulty.of_cluster(faults, cluster, draw),  # type: ignore[misc]
            name,
        )
    for name in kind.simulated:
        faults.run(
            lambda draw, name=name: faulty.of_simulated(faults, brokers.sites[0], name, draw),  # type: ignore[misc]
            name,
        )
    if (database := brokers.database) is not None:
        faults.run(lambda draw: database.faults(faults, draw), "database")
    for one in lives:
        faults.run(lambda draw, one=one: one.faults(faults, draw), one.name)  # type: ignore[misc]


def _led(verdict: Verdict, brokers: House, lives: list[Lives]) -> Json:
    """Which broker ran commands when: two at once is a violation."""
    went_on = [Moment(moment, one.name) for one in lives for moment in one.went_on]
    found = turns(brokers.begun(), went_on)
    terms = int(brokers.sites[0].client.get("status")["term"])
    if len(found) > terms:
        few = "; ".join(map(str, sorted(found, key=lambda turn: turn.commands)[:5]))
        verdict.broken(
            None, f"two brokers led at once: {len(found)} turns of theirs in {terms} terms: {few}"
        )
    return {"number": len(brokers.sites), "turns": len(found), "terms": terms}


def _watch(
    seconds: float,
    people: People,
    faults: Faults,
    lives: list[Lives],
    say: Callable[[str], None],
) -> None:
    """Until the time is over, telling how it goes."""
    began = time.monotonic()
    told_of: set[str] = set()
    while (passed := time.monotonic() - began) < seconds:
        time.sleep(min(10.0, seconds - passed))
        ended = sum(told.state is not None for told in people.told)
        new = [a for a in (*people.accidents, *faults.accidents) if a not in told_of]
        for accident in new:
            say(accident.splitlines()[0])  # the report has all of it
        told_of.update(new)
        say(
            f"{time.monotonic() - began:.0f} s: {len(people.told)} jobs, {ended} ended, "
            f"{len(faults.happened)} faults, life {'/'.join(str(one.life) for one in lives)}"
        )


def _leftovers(site: Site, verdict: Verdict) -> float | None:
    """Seconds until nothing is left in any cluster (P4); None: more than are allowed."""
    began = time.monotonic()
    try:
        site.wait_clean(BOUND)
        eventually(lambda: site.client.get("status")["owed_effects"] == 0, "nothing is owed", _OWED)
    except AssertionError as error:
        verdict.broken(None, f"P4: {str(error).splitlines()[0]}")
        return None
    return time.monotonic() - began


def _judge(outcome: Outcome, brokers: House, people: People, faults: Faults) -> None:
    site = brokers.sites[0]
    ended = [job for answer in site.client.history(limit="all") for job in answer["jobs"]]
    found = [*ended, *site.client.get("jobs")["jobs"]]
    outcome.jobs = {job["job"]: job for job in found}
    single = {number for number, job in outcome.jobs.items() if len(job["components"]) == 1}
    ends = {code: site.recorded(f"ends.{code}") for code in CODES}
    truth = Truth(site.runs(), ends, single, brokers.ended_by_id())
    partly = judging.in_part(outcome.jobs, truth)
    events = {number: site.job(number)["events"] for number in partly}
    verdict = judging.judge(people.told, outcome.jobs, events, truth, faults.happened)
    verdict.violations = outcome.verdict.violations + verdict.violations
    outcome.verdict = verdict
    _results(outcome, site, people)
    outcome.report = {
        "seed": outcome.plan.seed,
        "seconds": outcome.seconds,
        "jobs": len(outcome.jobs),
        "by_kind": dict(Counter(told.plan.kind for told in people.told)),
        "by_fate": dict(Counter(told.plan.fate for told in people.told)),
        "by_deed": dict(Counter(str(told.plan.deed) for told in people.told)),
        "submitted_twice": sum(told.plan.twice or told.plan.by_command for told in people.told),
        "by_state": judging.by_state(outcome.jobs.values()),
        "attempts": sum(job["attempts"] for job in outcome.jobs.values()),
        "more_than_one_attempt": sum(job["attempts"] > 1 for job in outcome.jobs.values()),
        "scripts_started": len(truth.starts),
        "partly_started": verdict.partly_started,
        "end_unknown": verdict.end_unknown,
        "changes_refused": people.refused,
        "faults": dict(sorted(Counter(fault.what for fault in faults.happened).items())),
        "faults_by_place": dict(Counter(fault.where for fault in faults.happened)),
    }


def _quiet(lives: Lives) -> Json:
    """The daemon's memory and open files while there is nothing to do."""
    living = lives.living()
    assert living is not None, "no daemon runs"
    time.sleep(_SETTLE)
    return at_rest(living[1])


def _results(outcome: Outcome, site: Site, people: People) -> None:
    """COMPLETED with files: each component's results are home, whole."""
    expected = (site.work / INPUT).read_text()
    for told in people.told:
        job = outcome.jobs.get(told.job)
        if told.plan.fate != "staged" or job is None or job["state"] != "COMPLETED":
            continue
        for part in job["components"]:
            home = site.work / f"metabroker-{told.job}.{part['index']}"
            result = home / f"result.{part['index']}"
            if not result.exists() or result.read_text() != expected:
                outcome.verdict.broken(told.job, f"the results of component {part['index']}")


def _finish(
    outcome: Outcome, brokers: House, lives: list[Lives], people: People, faults: Faults
) -> None:
    """Tell the story of each violation, hold the last daemon against a fresh one, and end all."""
    for number, what in outcome.verdict.violations[:20]:
        shown = "" if number is None else json.dumps(brokers.sites[0].show(number), indent=1)
        about = next((told for told in people.told if told.job == number), None)
        since = time.time() if about is None else about.submitted
        until = since + _LONG if about is None or about.heard is None else about.heard
        near = "\n".join(map(str, judging.between(faults.happened, since - _BEFORE, until)))
        outcome.stories.append(f"{what}\n{about}\n{near}\n{shown}")
    if brokers.database is None:
        _against_fresh(outcome, lives[0])
    for site in brokers.sites:
        if (code := site.stop()) != 0:
            outcome.verdict.broken(None, f"the daemon ended with {code}")
        if "Traceback" in site.log.read_text("utf-8", "replace"):
            outcome.verdict.broken(None, f"a traceback in {site.log}")


def _against_fresh(outcome: Outcome, lives: Lives) -> None:
    if (code := lives.site.stop()) != 0:
        outcome.verdict.broken(None, f"the daemon ended with {code}")
    lives.start()
    eventually(lives.site.serves, "the daemon serves")
    lives.site.look_at_clusters()
    outcome.report["daemon"]["quiet"]["fresh"] = _quiet(lives)
