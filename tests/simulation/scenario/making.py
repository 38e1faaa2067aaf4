"""Scenarios for tests, as text."""

from __future__ import annotations

from typing import Any

import pytest

from metabroker.config.errors import ConfigError, ConfigErrors
from metabroker.simulation.scenario.loader import Plan, parse_text

FOUR = "clusters: {c1: 32, c2: 32, c3: 32, c4: 32}\n"
SYNTHETIC = "workload:\n  synthetic:\n    utilization: 0.6\n"
LEAST = FOUR + SYNTHETIC
SMALL = f"{LEAST}jobs: 400\nreplications: 2\npolicy: GS\n"


def plan(text: str, *sets: str, **more: Any) -> Plan:
    """The only plan of a scenario."""
    (found,) = parse_text(text, sets, file="s.yaml", **more)
    return found


def errors(text: str | bytes, *sets: str, **more: Any) -> tuple[ConfigError, ...]:
    """What is wrong with a scenario."""
    with pytest.raises(ConfigErrors) as caught:
        parse_text(text, sets, file="s.yaml", **more)
    return caught.value.errors
