"""A bounded, seeded share of the storms; `make storm SEEDS=...` plays as many as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.share import share

from .generation import generate
from .kinds import FOR_SEVERAL, KINDS
from .play import play, play_seed
from .scenario import Scenario, Tally
from .storm import ALL, SEVERAL, Worlds, brokers_of, hunt

SEEDS = SEVERAL_SEEDS = share(6)
SCENARIOS = sorted(Path(__file__).with_name("scenarios").glob("*.json"))
# Those that show soon, and a short world that shows each (or, where it no longer does, the next);
# `make storm-mutations` hunts for all of them from one seed on.
QUICK = {
    "attempt-number-ignored": 50_013,
    "debt-dropped-when-a-cluster-is-down": 50_009,
    "owed-steps-not-resumed": 50_010,
    "watches-not-resumed": 50_004,
    "request-id-ignored": 50_044,
    "letters-of-another-component": 50_072,
    "failed-component-leaves-the-others": 50_011,
    "lease-thought-longer": 50_144,
    "lease-taken-before-its-end": 50_000,
    "any-lease-renewed": 50_016,
    "old-folder-taken-for-new": 70_133,
    "joining-jobs-outlive-the-others": 50_038,
    "joining-jobs-do-not-wait": 50_000,
    "joining-jobs-hear-nothing": 50_009,
    "letters-as-the-broker": 50_039,
    "timers-not-looked-at": 50_000,
    "extra-time-not-stored": 50_000,
}
OF_KINDS = Worlds("storm-kinds", ALL, special=True)


@pytest.mark.parametrize("first", range(0, SEEDS, 20))
def test_no_promise_is_broken(first: int) -> None:
    tally = Tally()
    for seed in range(first, min(first + 20, SEEDS)):
        outcome = play_seed(seed, tally)
        assert not outcome.wrong, f"seed {seed}: {outcome.wrong}\n" + "\n".join(outcome.story[-60:])
    assert tally.counts.get("event placed", 0) > 14


@pytest.mark.parametrize("first", range(0, SEVERAL_SEEDS, 20))
def test_no_promise_is_broken_where_brokers_share_a_store(first: int) -> None:
    tally = Tally()
    for seed in range(first, min(first + 20, SEVERAL_SEEDS)):
        outcome = play_seed(seed, tally, brokers=brokers_of(seed, SEVERAL))
        assert not outcome.wrong, f"seed {seed}: {outcome.wrong}\n" + "\n".join(outcome.story[-60:])
    assert tally.counts.get("event placed", 0) > 14
    assert tally.counts.get("lead taken", 0) > 14
    assert tally.counts.get("fault stop", 0) > 3


@pytest.mark.parametrize("first", range(0, SEEDS, 20))
def test_no_promise_is_broken_where_jobs_join_others(first: int) -> None:
    for seed in range(first, min(first + 20, SEEDS), 2):
        outcome = play_seed(seed, brokers=brokers_of(seed // 2, ALL), kind="joining")
        assert not outcome.wrong, f"seed {seed}: {outcome.wrong}\n" + "\n".join(outcome.story[-60:])


@pytest.mark.parametrize("first", range(0, len(KINDS), 10))
def test_no_promise_is_broken_in_a_world_of_each_kind(first: int) -> None:
    for number in range(first, min(first + 10, len(KINDS))):
        seed = len(ALL) * number + number % len(ALL)  # with one broker, two and three by turns
        brokers, kind = OF_KINDS.of(seed)
        outcome = play_seed(seed, brokers=brokers, kind=kind)
        assert not outcome.wrong, f"seed {seed}: {outcome.wrong}\n" + "\n".join(outcome.story[-60:])


def test_each_kind_of_worlds_is_played_with_each_number_of_brokers() -> None:
    played = {OF_KINDS.of(seed) for seed in range(len(ALL) * len(KINDS))}
    assert played >= {(number, kind) for kind in set(KINDS) - FOR_SEVERAL for number in ALL}
    assert {number for number, kind in played if kind in FOR_SEVERAL} == set(SEVERAL)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_what_once_failed_does_not_fail_again(file: Path) -> None:
    outcome = play(Scenario.from_json(file.read_text()))
    assert not outcome.wrong, outcome.wrong + "\n" + "\n".join(outcome.story[-60:])


@pytest.mark.parametrize(("seed", "brokers"), [(3, 1), (17, 3)])
def test_a_seed_replays_exactly(seed: int, brokers: int) -> None:
    assert play_seed(seed, brokers=brokers).story == play_seed(seed, brokers=brokers).story


def test_a_scenario_survives_its_file() -> None:
    scenario = generate(11)
    assert Scenario.from_json(scenario.to_json()) == scenario


@pytest.mark.parametrize("name", QUICK)
def test_a_planted_mistake_is_found(name: str) -> None:
    _name, found, _what = hunt(name, QUICK[name], 60)
    assert found is not None
