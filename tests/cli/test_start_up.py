"""A command must be there before its user notices that it starts."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.testbed.processes import captured

# Some of these take as long as all the rest.
SLOW = {"aiohttp", "asyncio", "pydantic", "sqlalchemy", "yaml", "alembic", "apscheduler", "logging"}
SLOW |= {"http.client", "email", "ssl", "shutil", "subprocess"}


def imported(code: str) -> set[str]:
    done = captured([sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], check=True)
    return set(done.stdout.split())


def test_a_command_loads_nothing_slow() -> None:
    modules = imported("import metabroker.cli.main; from metabroker.cli import submit, jobs, wait")
    assert not modules & SLOW
    assert "metabroker.config" not in modules


def test_a_command_loads_no_other_command() -> None:
    modules = imported("import metabroker.cli.main, metabroker.cli.jobs")
    assert "metabroker.cli.submit" not in modules
    assert "metabroker.cli.history" not in modules


def test_the_simulator_loads_nothing_slow_that_it_does_not_need() -> None:
    modules = imported("import metabroker.cli.simulate, metabroker.simulation.scenario.loader")
    assert not modules & {"scipy.stats", "matplotlib", "distributed", "sqlalchemy", "aiohttp"}


def test_help_loads_no_command() -> None:
    code = "from metabroker.cli.main import group\ngroup.main(['--help'], standalone_mode=False)"
    assert "metabroker.cli.submit" not in imported(code)


def test_a_command_that_asks_the_daemon_says_all_and_then_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text("#!/bin/sh\n")
    code = (
        "import atexit, sys; atexit.register(print, 'taken apart')\n"
        "from metabroker.cli.main import main\n"
        "sys.argv = ['metabroker', *{}]\nmain()"
    )

    def told(*words: str) -> tuple[int, str, str]:
        line = [sys.executable, "-c", code.format(words)]
        done = captured(line, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    status, said, complained = told("submit", "--socket", "none", "-n1", "-t5", "job.sh")
    assert (status, said) == (1, "") and "cannot reach the daemon at none" in complained
    status, said, _ = told("submit", "--help")
    assert status == 0 and "Usage: metabroker submit" in said and "taken apart" not in said
    assert "taken apart" in told("completion", "bash")[1]
