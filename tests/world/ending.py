"""What must be true when a world has come to rest."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from metabroker.broker import tokens
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.clusters.simulated.model import State
from metabroker.runtime.requests import RequestBuilder

from . import account_rules, as_told, beside, openpbs
from .account_rules import account_there
from .accounts import placed
from .arrays import whole
from .cluster import WorldCluster
from .controller import DENIALS, is_ours
from .cut_short import stood_too_long
from .home import FOLDER, RESULT
from .oracle import Violation
from .overtime import had_its_time
from .scenario import DENIES, LATE
from .written import rows_with_all_attempts

if TYPE_CHECKING:
    from .life import Life
    from .world import World


_AGREE = 55.0  # seconds
_LONGEST = 400.0  # seconds for which one fault may hide an end
# A submission that nobody has answered is looked for: it is no failed one, unless its cluster has
# answered all else meanwhile. (A reservation is.)
_UNHEARD = re.compile(r"\b(sbatch|qsub): no answer; given up")
_FULL = "Requested nodes are busy"
_A_POLL = 0.9  # of the time between two
_KEPT = re.compile(r"/metabroker-(\d+)\.\d+\.kept-[^/]*$")


def at_the_end(world: World, gone: Collection[int] = ()) -> None:
    """Nothing is left anywhere, every acknowledged job is there, and has ended as it should; or is
    `gone`, having been archived.

    Raises:
        Violation: else.
    """
    _nothing_left(world, gone)
    beside.check(world)
    rows = {row["id"]: row for row in rows_with_all_attempts(world.store)}
    back = world.back
    if not back.happened:
        _written_once(world)
    lost = _none_lost(world, rows)
    plans = {job: world.scenario.jobs[index] for index, job in world.users.acknowledged.items()}
    for row in [row for row in rows.values() if row["id"] not in lost]:
        plan = plans[row["of"] or row["id"]]
        state = _ended(row)
        if row["array"] is not None:
            world.tally.add(f"array {row['state']}")
            continue
        world.users.ended(row["id"], state)
        as_told.check(world, row, plan)
        if (
            row["state"] == JobState.TIMEOUT.value
            and not _waited_unseen(world, row)
            and not stood_too_long(world, row)
            and plan.longest + _hidden(world, row) < plan.limit
        ):
            raise Violation(f"P6: job {row['id']} is over its time limit of {plan.limit} s")
        had_its_time(world, row)
        refs = [
            Ref(row["id"], row["attempt"], part["component"], part["term"])
            for part in row["components"]
            if part["attempt"] == row["attempt"] and part["processors"]
        ]
        world.tally.add(f"ended {row['state']}")
        own = {  # whose script's own end the broker has seen
            Ref(row["id"], row["attempt"], part["component"], part["term"])
            for part in row["components"]
            if part["exit_code"] is not None
        }
        if world.clocks_right and not back.happened:
            for part in row["components"]:
                ref = Ref(row["id"], part["attempt"], part["component"], part["term"])
                world.oracle.told_when(ref, part["start_time"], part["end_time"])
        results = {r: _result(world, r) for r in refs if r in own} if row["stages_out"] else {}
        kept = any("kept" in places for places in results.values())
        cancelled = len(refs) == 1 and world.users.has_cancelled(row["id"])
        world.oracle.at_the_end(state, refs, row["exit_code"], kept=kept, cancelled=cancelled)
        world.oracle.results(state, results)
        account_rules.at_the_end(world, row, plan)
        if row["state"] == "FAILED":
            _not_for_a_black_hole(world, row)
            _not_for_one_poll(world, row)
        for places in results.values():
            world.tally.add(f"results {' and '.join(sorted(places)) or 'none'}")
    if not world.scenario.faults:
        _compare_calm(world, rows)


def _nothing_left(world: World, gone: Collection[int]) -> None:
    for cluster in world.clusters:
        cluster.step()
        left = [n for n in cluster.model.reservations if is_ours(n)]
        left += [
            j.name for j in cluster.model.jobs.values() if is_ours(j.name) and not j.state.ended
        ]
        with cluster.files.mended():
            left += _folders_left(cluster)
            _no_results_of(() if world.back.happened else gone, cluster)
        left = [name for name in left if world.back.knows(name, cluster.plan.name)]
        if left:
            raise Violation(f"P4: left in {cluster.plan.name}: {left}")


def _ended(row: dict[str, Any]) -> JobState:
    """A job's state; who asks later is told the same.

    Raises:
        Violation: it has not ended, though the broker counts it as nobody's any more.
    """
    state = JobState(row["state"])
    if not state.ended:
        raise Violation(f"told: job {row['id']} is {state.value}, and nobody goes on with it")
    return state


def _hidden(world: World, row: dict[str, Any]) -> float:
    """For how many seconds its clusters may have kept its end from being written, or seen. (Where a
    script's end cannot be written, its native job runs on, and is ended for its time limit.)"""
    parts = {part["cluster"] for part in row["components"]}
    return max(_LONGEST, *(c.hidden for c in world.clusters if c.plan.name in parts), 0.0)


def _waited_unseen(world: World, row: dict[str, Any]) -> bool:
    """Whether a cluster has ended a component of several for its native time limit, and nobody can
    tell, by clocks that do not agree, how much of it that had waited at the barrier."""
    if world.clocks_right and all(abs(c.offset) < _AGREE for c in world.clusters):
        return False
    instance, over = world.store.instance, State.TIMEOUT
    ended = [j.name for c in world.clusters for j in c.model.jobs.values() if j.state is over]
    refs = [tokens.parse(instance, name) for name in ended]
    several = len(row["components"]) > 1
    return several and any(ref is not None and ref.job == row["id"] for ref in refs)


def _none_lost(world: World, rows: dict[int, dict[str, Any]]) -> set[int]:
    """All acknowledged jobs are there, and each task of arrays once; which may not be."""
    back, numbers = world.back, list(world.users.acknowledged.values())
    lost = {number for number in numbers if back.happened and number > back.last_job}
    jobs = {number for number, row in rows.items() if not row["of"]}
    if sorted(jobs - lost) != sorted(n for n in numbers if n not in lost):
        raise Violation(f"P1: {sorted(rows)} in the store, {world.users.acknowledged} acknowledged")
    wrong = whole(rows)
    if wrong:
        raise Violation(f"P1: {wrong}")
    return lost


def _result(world: World, ref: Ref) -> set[str]:
    """Where a component's results are: "home", "kept" in its cluster, or both (it was not heard
    that they had come home)."""
    token = tokens.make(world.store.instance, ref).encode()
    rows = world.store.jobs.attempt(ref.job, ref.attempt)
    row = next(row for row in rows if row["component"] == ref.component)
    number, where = 0 if row["single"] else ref.component, row["cluster"]
    home = world.home.read(f"{FOLDER}/metabroker-{ref.job}.{number}/{RESULT}")
    builder = RequestBuilder(world.store, world.settings, where)
    folder = placed(builder.keep(ref), account_there(world, ref, where))
    files = world.by_name[where].files
    with files.mended():  # the truth, whoever can see it now
        kept = files.read(f"{folder}/{RESULT}")
    return {name for name, found in (("home", home), ("kept", kept)) if found == token}


def at_rest(world: World, life: Life) -> None:
    """All has ended, a while ago. The broker that leads counts nothing as its own any more, and as
    others' what the last poll has shown.

    Raises:
        Violation: else.
    """
    for cluster, entry in zip(
        world.clusters, life.engine.broker._state.ledger.entries, strict=True
    ):
        if entry.claimed:
            raise Violation(f"{entry.claimed} processors of {cluster.plan.name} are still claimed")
        if entry.snapshot is not None and entry.others != entry.snapshot.busy:
            wrong = f"{entry.others}, and not {entry.snapshot.busy}"
            raise Violation(f"others hold {wrong} processors of {cluster.plan.name}")


def _not_for_a_black_hole(world: World, row: dict[str, Any]) -> None:
    """No job is FAILED because clusters denied it that could have run in others, and none at all
    because one could not be reached, or has not answered."""
    parts = {part["cluster"] for part in row["components"]}
    late = any(fault.what == LATE and fault.where in parts for fault in world.scenario.faults)
    if _UNHEARD.search(row["reason"]) and not late:
        raise Violation(f"job {row['id']} is FAILED, but not refused: {row['reason']}")
    words = [*DENIALS.items(), *((how, text) for how, (_, text) in openpbs.DENIALS.items())]
    said = next((how for how, text in words if text in row["reason"]), None)
    if said is None:
        return
    holes = {fault.where for fault in world.scenario.faults if fault.what == DENIES}
    index = next(
        index for index, job in world.users.acknowledged.items() if job == (row["of"] or row["id"])
    )
    plan = world.scenario.jobs[index]
    rooms = [c.processors for c in world.scenario.clusters if c.name not in holes]
    sizes = sorted((size * plan.cpus for size in plan.sizes), reverse=True)
    fits = len(sizes) <= len(rooms)
    fits = fits and all(a <= b for a, b in zip(sizes, sorted(rooms, reverse=True), strict=False))
    elsewhere = fits and plan.form in ("single", "components")
    elsewhere = elsewhere or (bool(plan.clusters) and holes.isdisjoint(plan.clusters))
    if said == "unreachable" or elsewhere:
        raise Violation(f"black hole: job {row['id']} is FAILED: {row['reason']}")


def _not_for_one_poll(world: World, row: dict[str, Any]) -> None:
    """No job is FAILED since one cluster was full as often as it was asked between two polls."""
    if any(fault.what != "full" for fault in world.scenario.faults):
        return  # a broker that starts again does not know what that cluster has said
    rolled = [e for e in world.store.jobs.events(row["id"]) if e["what"] == "rolled back"]
    why = {entry["detail"]["why"] for entry in rolled}
    told = len(why) == 1 and _FULL in why.pop() and _FULL in row["reason"]
    lasted = rolled[-1]["time"] - rolled[0]["time"] if rolled else 0.0
    if told and lasted < _A_POLL * world.scenario.poll:
        raise Violation(f"job {row['id']} is FAILED within {lasted:.1f} s: {row['reason']}")


def _written_once(world: World) -> None:
    """Each entry of a job's history is there once, however often it was written."""
    wanted: dict[int, list[str]] = {}
    for batch in world.store.written.values():
        for entry in batch.ready.journal:
            wanted.setdefault(entry.job, []).append(f"{entry.time} {entry.attempt} {entry.what}")
    for job, entries in wanted.items():
        found = [f"{e['time']} {e['attempt']} {e['what']}" for e in world.store.jobs.events(job)]
        if found != entries:
            raise Violation(f"events: job {job} has {found}, not {entries}")


def _folders_left(cluster: WorldCluster) -> list[str]:
    """Folders that should have been removed: not what is kept for its user, nor empty ones, one
    in the other, that a broker made which had been stopped just before, and went on when all was
    over."""
    files, litter = cluster.files, cluster.litter

    def empty(folder: str) -> bool:
        return all(f"{folder}/{name}" in litter for name in files.names(folder) or ())

    left = [folder for folder in files.folders if ".kept-" not in folder]
    return [folder for folder in left if folder not in litter or not empty(folder)]


def _no_results_of(gone: Collection[int], cluster: WorldCluster) -> None:
    """Where results stay that could not be brought back their job tells."""
    for folder in cluster.files.folders:
        told = _KEPT.search(folder)
        if told and int(told[1]) in gone:
            raise Violation(f"retention: job {told[1]} is gone, and {folder} is still there")


def _compare_calm(world: World, rows: dict[int, dict[str, Any]]) -> None:
    """Where nothing is wrong every job runs and ends by its script. (An attempt may have been
    refused: a cluster frees processors a moment after the script's own record of its end.)"""
    for index, job in world.users.acknowledged.items():
        plan, row = world.scenario.jobs[index], rows[job]
        if (
            plan.actions
            or plan.whims
            or plan.hold
            or plan.after
            or plan.joins >= 0
            or plan.array
            or plan.longest > plan.limit - 10
        ):
            continue
        parts = [part for part in row["components"] if part["attempt"] == row["attempt"]]
        ran = {part["component"] for part in parts if part["started"]}  # one of those in line does
        code = plan.exit_of(row["attempt"], ran)
        expected = ("FAILED" if code else "COMPLETED", code)
        found = (row["state"], row["exit_code"])
        if found != expected:
            raise Violation(f"job {job} is {found} in a calm world, not {expected}")
