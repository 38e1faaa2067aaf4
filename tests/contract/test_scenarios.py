"""The same scenarios on simulated and on real clusters, through a daemon and the command line."""

from __future__ import annotations

import pytest

from tests.contract.player import Player
from tests.contract.scenario import Scenario, scenarios
from tests.daemon.harness import Site
from tests.daemon.kinds import Kind


@pytest.mark.parametrize("scenario", scenarios(), ids=str)
def test_scenario(scenario: Scenario, kind: Kind, site: Site) -> None:
    if scenario.only not in (None, kind.name):
        pytest.skip(f"only for {scenario.only} clusters: {scenario.why}")
    Player(scenario, site).play()
