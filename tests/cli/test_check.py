"""`metabroker check` and the configuration of `serve`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Run
from tests.security.certificates import Authority

GOOD = "clusters: {lab: {system: simulated, processors: 32}}\n"
BAD = "polcy: GS\npoll_interval: soon\nclusters:\n  lab: {system: simulated}\n"


def test_a_good_configuration(run: Run, folder: Path) -> None:
    (folder / "mb.yaml").write_text(GOOD)
    done = run("check", "--config", "mb.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mb.yaml: ok: policy LP-GF, 1 clusters\n")
    answer = json.loads(run("check", "--config", "mb.yaml", "--json").stdout)
    assert answer["ok"] is True
    assert answer["config"]["policy"] == "LP-GF"


def test_submitters_who_may_not_submit_are_told_with_the_missing_key(
    run: Run, folder: Path
) -> None:
    clusters = {
        "far": {"system": "slurm", "via": "ssh", "host": "login.example", "shared_dir": "/shared"},
        "near": {"system": "slurm", "via": "ssh", "host": "login.near.example"},
    }
    text = yaml.safe_dump({"submitters": ["root"], "clusters": clusters})
    (folder / "mb.yaml").write_text(text)
    done = run("check", "--config", "mb.yaml", "--json")
    (warning,) = [each for each in json.loads(done.stdout)["warnings"] if "submitters" in each]
    assert warning.endswith("; set clusters.near.shared_dir")
    assert f"  warning: {warning}\n" in run("check", "--config", "mb.yaml").stdout
    (folder / "mb.yaml").write_text(
        text.replace("host: login.near", "shared_dir: /x\n    host: login.near")
    )
    assert "submitters" not in run("check", "--config", "mb.yaml").stdout


CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example(run: Run, folder: Path, file: Path) -> None:
    if "tls/" in file.read_text():  # what it names must be there
        (folder / "tls").mkdir()
        Authority(folder / "tls").sign("broker.example.org", "metabroker")
        file = Path(shutil.copy(file, folder))
    done = run("check", "--config", str(file), "--json")
    # The clusters' own files and folders are not on every host; all else must be right.
    absent = ("there is no folder", "there is no such file", "has no ")
    others = [
        error
        for error in json.loads(done.stdout)["errors"]
        if not error["key"].endswith((".bin", ".env"))
        or not any(words in error["message"] for words in absent)
    ]
    assert (others, done.stderr) == ([], "")


def test_the_configuration_in_force(run: Run, folder: Path) -> None:
    (folder / "mb.yaml").write_text(GOOD)
    shown = run("check", "--config", "mb.yaml", "--show").stdout
    assert yaml.safe_load(shown)["aging"] == {"overtaken": 20, "wait": "1d"}


@pytest.mark.parametrize("command", ["check", "serve"])
def test_a_bad_one_has_every_error_on_its_line(run: Run, folder: Path, command: str) -> None:
    (folder / "mb.yaml").write_text(BAD)
    done = run(command, "--config", "mb.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    starts = [
        "metabroker: mb.yaml:1: polcy: unknown key; did you mean 'policy'?",
        "metabroker: mb.yaml:2: poll_interval: 'soon' is not a duration; ",
        "metabroker: mb.yaml:4: clusters.lab.processors: is missing; ",
    ]
    for line, start in zip(done.stderr.splitlines(), starts, strict=True):
        assert line.startswith(start)


def test_errors_in_json(run: Run, folder: Path) -> None:
    (folder / "mb.yaml").write_text(BAD)
    done = run("check", "--config", "mb.yaml", "--json")
    assert (done.returncode, done.stderr) == (2, "")
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    assert [(error["line"], error["key"]) for error in answer["errors"]] == [
        (1, "polcy"),
        (2, "poll_interval"),
        (4, "clusters.lab.processors"),
    ]


@pytest.mark.parametrize("command", ["check", "serve"])
def test_no_file(run: Run, command: str) -> None:
    done = run(command, "--config", "none.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.yaml:1: cannot be read: No such file or directory" in done.stderr
