"""The folder of front ends, and what each of them loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from metabroker.cli.errors import CliError
from metabroker.cli.front_ends import front_ends
from metabroker.frontends.main import COMMANDS
from metabroker.paths import without_front_ends
from tests.cli.test_start_up import SLOW, imported

REPOSITORY = Path(__file__).parents[2]


def test_each_loads_nothing_slow() -> None:
    names = ", ".join(f"metabroker.frontends.{name}" for name in COMMANDS)
    modules = imported(f"import metabroker.frontends.main, {names}")
    assert not modules & (SLOW | {"click", "tempfile", "uuid", "logging"})


def test_the_folder_is_made_and_made_anew_and_no_other_is_touched(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    for _ in range(2):
        made = CliRunner().invoke(front_ends, [str(folder)], standalone_mode=False)
        assert made.exception is None
        assert made.output == f"export PATH={folder}:$PATH\n"
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert names == {*COMMANDS, "modulefile"}
    assert f"prepend-path PATH {folder}" in (folder / "modulefile").read_text()
    with pytest.raises(CliError, match="is not empty"):
        CliRunner().invoke(
            front_ends, [str(tmp_path)], standalone_mode=False, catch_exceptions=False
        )
    assert without_front_ends(f"/a:{folder}:/b") == "/a:/b"


def test_one_of_them_is_a_command_that_ends_in_one_line(tmp_path: Path) -> None:
    CliRunner().invoke(front_ends, [str(tmp_path / "bin")], standalone_mode=False)
    environment = {"PATH": os.environ["PATH"], "METABROKER_SOCKET": str(tmp_path / "none")}
    done = subprocess.run(
        [str(tmp_path / "bin" / "squeue"), "-h"], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("squeue: error: cannot reach the daemon")
    assert sys.executable in (tmp_path / "bin" / "squeue").read_text()
