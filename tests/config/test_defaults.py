"""Defaults that depend on other keys, on the user, or on the file's place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metabroker import paths
from metabroker.config import Config, ConfigErrors, SimulatedConfig, load, parse
from metabroker.config.values import Address

LEAST = "clusters: {lab: {system: simulated, processors: 32}}\n"


def test_only_clusters_must_be_given() -> None:
    config = parse(LEAST)
    assert (config.policy, config.discipline, config.placement) == ("LP-GF", "FCFS", None)
    assert (config.aging.overtaken, config.aging.wait) == (20, 86400)
    assert (config.retries.submission, config.retries.completion) == (3, 0)
    assert (config.poll_interval, config.default_time, config.max_time) == (5.0, 3600, None)
    assert config.metrics == Address("127.0.0.1", 9798)
    assert (config.admins, config.submitters, config.homes, config.seed) == ((), (), {}, 0)
    lab = config.clusters["lab"]
    assert isinstance(lab, SimulatedConfig)
    assert (lab.processors, lab.run, lab.commands_at_once, lab.claim) == (
        32,
        True,
        4,
        "reservation",
    )


@pytest.mark.parametrize(
    ("policy", "placement", "discipline"),
    [
        ("GS", "worst-fit", "FCFS"),
        ("FCFS", "worst-fit-reuse", "FCFS"),
        ("FPFS", "worst-fit-reuse", "FPFS"),
    ],
)
def test_the_policy_brings_its_placement_and_discipline(
    policy: str, placement: str, discipline: str
) -> None:
    config = parse(f"policy: {policy}\n{LEAST}")
    assert (config.placement_in_force, config.discipline) == (placement, discipline)


def test_a_section_without_keys_is_as_if_it_were_not_there() -> None:
    sections = ("transfer", "limits", "rates", "aging", "line", "plan")
    assert parse("".join(f"{name}:\n" for name in sections) + LEAST) == parse(LEAST)


@pytest.mark.parametrize("placement", ["close-to-files", "close-to-files-reuse"])
def test_files_count_only_where_the_placement_says_so(placement: str) -> None:
    assert not parse(LEAST).close_to_files
    assert not parse(f"transfer: {{bandwidth: 5, staging: {{lab: 2}}}}\n{LEAST}").close_to_files
    given = parse(f"placement: {placement}\ntransfer:\n{LEAST}")
    assert given.close_to_files and given.placement_in_force == placement
    assert (given.transfer.bandwidth, given.transfer.staging) == (100.0, {})


def test_a_placement_that_is_given_is_in_force() -> None:
    assert parse(f"policy: FCFS\nplacement: worst-fit\n{LEAST}").placement_in_force == "worst-fit"


def test_ended_jobs_are_kept_for_a_year_and_archived_beside_the_store(tmp_path: Path) -> None:
    config = parse(f"store: sqlite:///{tmp_path}/a.db\n{LEAST}")
    kept = config.history
    assert [
        seconds // 86400 for seconds in (kept.keep or 0, kept.events or 0, kept.scripts or 0)
    ] == [
        400,
        90,
        30,
    ]
    assert config.archive_folder == tmp_path / "archive"
    for_ever = parse(f"history: {{keep: null, archive: /a}}\n{LEAST}")
    assert for_ever.history.keep is None and for_ever.archive_folder == Path("/a")


def test_a_section_whose_keys_are_commented_out_has_its_defaults() -> None:
    empty = parse(f"limits:\nretries:\ntimeouts:\nhomes:\nadmins:\n{LEAST}")
    assert empty == parse(LEAST)


def test_roots_defaults_are_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    config = parse(LEAST)
    assert config.store == "sqlite:////var/lib/metabroker/metabroker.db"
    assert config.socket == Path("/run/metabroker/metabroker.sock")
    assert config.state_file("lab") == Path("/var/lib/metabroker/lab.simulated")


def test_another_users_defaults_are_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_STATE_HOME", "/home/u/state")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    config = parse(LEAST)
    assert config.store == "sqlite:////home/u/state/metabroker/metabroker.db"
    assert config.socket == Path("/run/user/1000/metabroker/metabroker.sock")


def test_without_a_runtime_folder_the_socket_is_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/u")
    assert paths.default_socket() == Path("/home/u/.metabroker/metabroker.sock")
    assert paths.state_directory() == Path("/home/u/.local/state/metabroker")


def test_relative_paths_start_at_the_files_folder(tmp_path: Path) -> None:
    file = tmp_path / "mb.yaml"
    file.write_text(
        "store: sqlite:///state/mb.db\nsocket: run/mb.sock\n"
        "clusters: {lab: {system: simulated, processors: 1, state: lab.json, shared_dir: ../s}}\n"
    )
    config = load(file)
    assert config.store == f"sqlite:///{tmp_path}/state/mb.db"
    assert config.socket == tmp_path / "run/mb.sock"
    assert config.state_file("lab") == tmp_path / "lab.json"
    assert config.clusters["lab"].shared_dir == tmp_path.parent / "s"


def test_a_configuration_cannot_be_changed() -> None:
    config = parse(LEAST)
    with pytest.raises(ValueError, match="frozen"):
        config.policy = "GS"


def test_names_that_yaml_takes_for_other_things_are_names() -> None:
    config = parse("clusters: {no: {system: slurm}, 2024: {system: slurm}}")
    assert list(config.clusters) == ["no", "2024"]


def test_anchors_and_merges_work() -> None:
    config: Config = parse(
        "clusters:\n"
        "  a: &base {system: simulated, processors: 4, nodes: 2}\n"
        "  b: {<<: *base, processors: 8}\n"
    )
    assert [cluster.processors for cluster in config.clusters.values()] == [4, 8]
    assert config.clusters["b"].nodes == 2


def test_plans_are_configured_and_ahead_0_switches_them_off() -> None:
    plan = parse(f"plan: {{ahead: 12h, share: 0.25, jobs: 2}}\n{LEAST}").plan
    assert (plan.ahead, plan.share, plan.jobs) == (43200, 0.25, 2)
    assert parse(f"plan: {{ahead: 0}}\n{LEAST}").plan.ahead == 0
    for wrong in ("ahead: -1", "share: 0", "share: 1.5", "jobs: 0", "ahead: no"):
        with pytest.raises(ConfigErrors, match="plan"):
            parse(f"plan: {{{wrong}}}\n{LEAST}")
