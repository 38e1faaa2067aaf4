"""Shell completion: the scripts, and what they get for an answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.fake import FakeService
from tests.cli.conftest import Run
from tests.testbed.processes import captured


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0
    assert f"_METABROKER_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: its script was not read by it")
    subprocess.run([shell, "-n"], input=done.stdout.encode(), check=True, timeout=120)


def complete(run: Run, *words: str) -> list[str]:
    """What bash is offered for the last of `words`."""
    env = {
        "_METABROKER_COMPLETE": "bash_complete",
        "COMP_WORDS": "metabroker " + " ".join(words),
        "COMP_CWORD": str(len(words)),
    }
    return [line.split(",", 1)[1] for line in run(env=env).stdout.splitlines() if line]


def test_commands(run: Run) -> None:
    assert complete(run, "c") == ["cancel", "clusters", "check", "completion"]


def test_options(run: Run) -> None:
    assert complete(run, "submit", "--co") == ["--components"]
    assert set(complete(run, "queue", "--")) == {
        "--user",
        "--me",
        "--limit",
        "--socket",
        "--server",
        "--ca-file",
        "--json",
        "--help",
    }


def test_names_of_clusters(run: Run, service: FakeService) -> None:
    assert complete(run, "submit", "--cluster", "d") == ["delft"]
    assert complete(run, "drain", "l") == ["leiden"]
    assert complete(run, "submit", "--on", "delft:4,le") == ["delft:4,leiden:"]


def test_without_a_daemon_nothing_is_offered(run: Run) -> None:
    assert complete(run, "submit", "--cluster", "d") == []


def test_bash_itself_completes(environ: dict[str, str], folder: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    (folder / "metabroker").write_text(f'#!/bin/sh\nexec {sys.executable} -m metabroker "$@"\n')
    (folder / "metabroker").chmod(0o755)
    test = (
        'eval "$(metabroker completion bash)"\n'
        "COMP_WORDS=(metabroker sub) COMP_CWORD=1\n"
        "_metabroker_completion metabroker sub metabroker\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    done = captured(
        [bash, "--norc", "-c", test], env={**environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    )
    assert done.stdout.strip() == "submit", done.stderr
