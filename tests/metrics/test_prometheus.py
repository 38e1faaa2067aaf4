"""A real Prometheus scrapes a running daemon: every query of the dashboard returns data, every
alert rule is right and fires when it should."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.daemon.harness import Site, eventually, recording
from tests.daemon.test_offline import free_port
from tests.metrics import prometheus
from tests.metrics.prometheus import Prometheus, Server
from tests.testbed.apt import PackagesUnavailable
from tests.testbed.processes import captured

CONFIGS = Path(__file__).parents[2] / "configs"
ALERTS = CONFIGS / "prometheus" / "alerts.yml"
DASHBOARD = CONFIGS / "grafana" / "metabroker.json"


@pytest.fixture(scope="module")
def programs() -> Prometheus:
    try:
        return prometheus.install()
    except PackagesUnavailable as error:
        if os.environ.get("METABROKER_REQUIRE_SLURM") == "1":
            pytest.fail(f"Prometheus cannot be had here: {error}", pytrace=False)
        pytest.skip(f"left out, it needs Prometheus, which cannot be had here: {error}")


def queries() -> list[str]:
    """Of all panels."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    found = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    return [expression.replace("$__rate_interval", "30s") for expression in found]


def rules() -> list[str]:
    """Of all alerts."""
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule["alert"] for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("asked", [("check", "rules", "alerts.yml"),
                                   ("check", "config", "prometheus.yml"),
                                   ("test", "rules", "alerts.test.yml"),
                                   ("test", "rules", "alerts.slow.test.yml")])  # fmt: skip
def test_promtool_finds_nothing_wrong(programs: Prometheus, asked: tuple[str, ...]) -> None:
    done = captured([programs.promtool, *asked], cwd=ALERTS.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested_quiet_and_firing() -> None:
    tests = yaml.safe_load((ALERTS.parent / "alerts.test.yml").read_text())["tests"]
    slow = yaml.safe_load((ALERTS.parent / "alerts.slow.test.yml").read_text())["tests"]
    quiet, wrong = tests[0], [*tests[1:], *slow]
    assert [case["alertname"] for case in quiet["alert_rule_test"]] == rules()
    fired = [each for test in wrong for each in test["promql_expr_test"]]
    for name in rules():
        assert f'alertname="{name}"' in json.dumps(fired).replace('\\"', '"')


@pytest.fixture
def server(programs: Prometheus, slurm_site: Site, tmp_path: Path) -> Iterator[Server]:
    """Prometheus beside a daemon over real clusters that has done a bit of everything."""
    port, own = free_port(), free_port()
    site = slurm_site
    site.configure({"metrics": f"127.0.0.1:{port}", "poll_interval": "1s"})
    configuration = yaml.safe_load((ALERTS.parent / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    configuration["rule_files"] = [str(ALERTS)]
    configuration["scrape_configs"][0]["static_configs"] = [{"targets": [f"127.0.0.1:{port}"]}]
    (tmp_path / "p.yml").write_text(yaml.safe_dump(configuration))
    with prometheus.running(programs, tmp_path / "p.yml", tmp_path / "data", own) as served:
        site.start_and_look()
        # Its series must be there before they grow: a rate is a difference.
        eventually(lambda: len(served.query("metabroker_cluster_up")) == 3, "it is scraped")
        together = site.submit("--on delft:4,lab:4")
        alone = site.submit("-n 2", recording("exit 3"))
        site.submit("-n 2 --hold")
        site.wait_end(together, "COMPLETED")
        site.wait_end(alone, "FAILED")
        yield served
    assert site.stop() == 0


@pytest.mark.slurm
def test_every_query_of_the_dashboard_returns_data(server: Server) -> None:
    waiting = dict.fromkeys(queries())

    def all_answered() -> bool:
        for expression in list(waiting):
            values = [float(sample["value"][1]) for sample in server.query(expression)]
            if any(value == value for value in values):  # not NaN alone
                del waiting[expression]
        return not waiting

    try:
        eventually(all_answered, "every query returns data")
    except AssertionError:
        raise AssertionError("no data for:\n" + "\n".join(waiting)) from None
    assert not [
        sample["metric"]["alertname"]
        for sample in server.query('ALERTS{alertstate="firing"}')
        if sample["metric"]["alertname"] != "MetabrokerDown"
    ]
