"""The example configurations are right, and the commented one tells the truth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from metabroker.config import (
    Config,
    OpenPBSConfig,
    SimulatedConfig,
    SlurmConfig,
    load,
    parse,
    render,
)

CONFIGS = Path(__file__).parents[2] / "configs"
COMMENTED = CONFIGS / "metabroker.yaml"


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example_loads_and_renders_as_itself(file: Path) -> None:
    config = load(file)
    assert parse(render(config)) == config


def test_the_commented_example_lists_every_key() -> None:
    data = yaml.safe_load(COMMENTED.read_text())
    assert set(data) == set(Config.model_fields)
    for section in ("limits", "rates", "aging", "retries", "timeouts", "history", "transfer"):
        model = type(getattr(load(COMMENTED), section))
        assert set(data[section]) == set(model.model_fields)
    assert set(data["clusters"]["delft"]) == set(SlurmConfig.model_fields)
    assert set(data["clusters"]["leiden"]) == set(OpenPBSConfig.model_fields)
    assert set(data["clusters"]["lab"]) == set(SimulatedConfig.model_fields)


def test_the_commented_example_gives_the_true_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    least = (
        "clusters: {delft: {system: slurm}, leiden: {system: openpbs}, "
        "lab: {system: simulated, processors: 32}}"
    )
    assert load(COMMENTED) == parse(least)


def test_every_key_is_documented() -> None:
    for model in (Config, SlurmConfig, OpenPBSConfig, SimulatedConfig):
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name} has no description"
