"""`metabroker install-service` below a folder: what it writes, leaves alone, and takes away."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from metabroker import __version__
from metabroker.cli.main import COMMANDS, group, main
from metabroker.config.clusters import OpenPBSConfig, SimulatedConfig, SlurmConfig
from metabroker.config.model import Config
from metabroker.installation import manual, reference

UNIT = "etc/systemd/system/metabroker.service"
CONFIGURATION = "etc/metabroker/metabroker.yaml"
MAN = "usr/local/share/man/man1/metabroker.1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    (made / "usr" / "local").mkdir(parents=True)
    return made


@dataclass(frozen=True)
class Done:
    returncode: object
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """metabroker, by an administrator whose files are for no others."""

    def command(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["metabroker", *words])
        before = os.umask(0o077)
        with pytest.raises(SystemExit) as ended:
            main()
        os.umask(before)
        return Done(ended.value.code, *capsys.readouterr())

    return command


def tree(root: Path) -> dict[str, str]:
    """All files and links, with what is in them; folders with a slash."""
    return {
        f"{path.relative_to(root)}{'/' if path.is_dir() else ''}": (
            str(path.readlink())
            if path.is_symlink()
            else path.read_text()
            if path.is_file()
            else ""
        )
        for path in root.rglob("*")
    }


def test_what_is_installed_is_told_is_readable_and_goes_without_a_trace(
    run: Run, root: Path
) -> None:
    before = tree(root)
    done = run("install-service", "--root", str(root))
    assert done.returncode == 0, done.stderr
    told = set(re.findall(r"^writes (.*)$", done.stdout, re.M))
    files = {str(path) for path in root.rglob("*") if not path.is_dir() or path.is_symlink()}
    assert files - told == {str(root / "usr/local/share/metabroker/installed.json")}
    for path in root.rglob("*"):
        # `store` in the configuration may have a password in it.
        plain = 0o640 if path == root / CONFIGURATION else 0o644
        assert path.is_symlink() or path.stat().st_mode & 0o777 == (
            0o755 if path.is_dir() else plain
        )
    assert (root / "usr/local/bin/metabroker").readlink().name == "metabroker"
    done = run("install-service", "--root", str(root), "--remove")
    assert done.returncode == 0, done.stderr
    etc = {"etc/", "etc/metabroker/", CONFIGURATION}
    assert tree(root).keys() - before.keys() == etc


def test_a_dry_run_says_the_same_and_does_nothing(run: Run, root: Path) -> None:
    before = tree(root)
    dry = run("install-service", "--root", str(root), "--dry-run")
    assert tree(root) == before
    assert run("install-service", "--root", str(root)).stdout == dry.stdout
    installed = tree(root)
    dry = run("install-service", "--root", str(root), "--remove", "--dry-run")
    assert tree(root) == installed and f"removes {root / UNIT}" in dry.stdout


def test_what_was_changed_is_neither_written_over_nor_removed(run: Run, root: Path) -> None:
    run("install-service", "--root", str(root))
    (root / UNIT).write_text("[Service]\nExecStart=/opt/mine\n")
    (root / CONFIGURATION).write_text("clusters: {mine: {system: slurm}}\n")
    (root / MAN).write_text("of a version that was never installed")
    before = tree(root)
    done = run("install-service", "--root", str(root))
    assert done.returncode == 1 and tree(root) == before
    assert f"{root / UNIT} is not as it was installed" in done.stderr
    assert f"{root / MAN} is not as it was installed" in done.stderr
    done = run("install-service", "--root", str(root), "--remove")
    assert done.returncode == 0
    assert f"keeps {root / UNIT}: it was changed since" in done.stdout
    after = tree(root)
    assert {path for path in after if not path.endswith("/")} == {UNIT, CONFIGURATION, MAN}
    assert after[UNIT] == before[UNIT] and after[CONFIGURATION] == before[CONFIGURATION]


def test_an_upgrade_replaces_what_is_as_it_was_and_removes_what_is_no_more(
    run: Run, root: Path
) -> None:
    """The list says what an older version had written."""
    run("install-service", "--root", str(root))
    listed = root / "usr/local/share/metabroker/installed.json"
    new = (root / MAN).read_text()
    gone = root / "usr/local/share/man/man1/metabroker-gone.1"
    for file in (root / MAN, gone):
        file.write_text("old")
    data = json.loads(listed.read_text())
    for file in (root / MAN, gone):
        data["files"][f"/{file.relative_to(root)}"] = hashlib.sha256(b"old").hexdigest()
    listed.write_text(json.dumps(data))
    done = run("install-service", "--root", str(root))
    assert done.returncode == 0, done.stderr
    assert f"updates {root / MAN}" in done.stdout and f"removes {gone}" in done.stdout
    assert (root / MAN).read_text() == new and not gone.exists()
    assert str(gone.relative_to(root)) not in listed.read_text()


def test_wrong_uses_are_told(run: Run, root: Path) -> None:
    done = run("install-service", "--root", str(root), "--remove")
    assert done.returncode == 1 and "nothing was installed" in done.stderr
    listed = root / "usr/local/share/metabroker/installed.json"
    listed.parent.mkdir(parents=True)
    listed.write_text("{}")
    done = run("install-service", "--root", str(root))
    assert done.returncode == 1 and "is not the list" in done.stderr
    done = run("install-service", "--root", str(root / "none"))
    assert done.returncode == 2


def pages() -> dict[str, str]:
    summaries = {name: text for name, (_, text) in COMMANDS.items()}
    return {**manual.pages(group, summaries), "metabroker.yaml.5": reference.page()}


def options(command: click.Command) -> set[str]:
    found = {opt for param in command.params for opt in param.opts if opt.startswith("-")}
    if isinstance(command, click.Group) and command is not group:
        for name in command.commands:
            found |= options(command.commands[name])
    return found


def test_there_is_a_page_of_every_command_with_every_option() -> None:
    found = pages()
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        page = found[f"metabroker-{name}.1"].replace("\\-", "-")
        assert not [option for option in options(command) if option not in page], name
        assert f"metabroker-{name}" in found["metabroker.1"].replace("\\-", "-")
    assert __version__ in found["metabroker.1"]


def test_the_configurations_page_has_every_key_and_default() -> None:
    page = pages()["metabroker.yaml.5"].replace("\\-", "-")
    for model in (Config, SlurmConfig, OpenPBSConfig, SimulatedConfig):
        for name in model.model_fields:
            assert re.search(rf"^\.TP\n\\fB{name}\\fR$", page, re.M), name
    assert "\\fBlimits.per_user.waiting\\fR" in page and "\\fBtimeouts.barrier\\fR" in page
    for known in ("fBLP-GF", "fB1h", "fB127.0.0.1:9798", "fBsqlite:////var/lib/metabroker/"):
        assert f"Default: \\{known}" in page, known


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed here")
def test_the_pages_are_read_without_a_warning() -> None:
    for name, page in pages().items():
        words = ["groff", "-ww", "-b", "-man", "-K", "utf8", "-Tutf8", "-z"]
        if shutil.which("preconv") is None:
            words = [word for word in words if word not in ("-K", "utf8")]
        read = subprocess.run(words, input=page, capture_output=True, text=True, check=True)
        assert read.stderr == "", name


def test_completion_scripts_are_where_shells_look(run: Run, root: Path) -> None:
    run("install-service", "--root", str(root))
    share = root / "usr/local/share"
    bash = (share / "bash-completion/completions/metabroker").read_text()
    assert "_METABROKER_COMPLETE=bash_complete" in bash
    assert (share / "zsh/site-functions/_metabroker").read_text().startswith("#compdef metabroker")
    assert "_METABROKER_COMPLETE=fish_complete" in (
        (share / "fish/vendor_completions.d/metabroker.fish").read_text()
    )
