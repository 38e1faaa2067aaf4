"""What is looked at before a service is made of a program."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import click
import pytest

from metabroker.installation import files, host


def test_a_program_in_a_folder_closed_to_others_is_no_service(tmp_path: Path) -> None:
    closed, program = tmp_path / "closed", tmp_path / "closed" / "bin" / "metabroker"
    program.parent.mkdir(parents=True)
    program.touch()
    for folder in (closed, program.parent):
        folder.chmod(0o755)
    link = Path("/tmp") / f"{tmp_path.name}-link"
    link.symlink_to(program)
    try:
        closed.chmod(0o700)
        assert host.unreachable(program) == closed
        assert host.unreachable(link) == closed, "behind a link as well"
    finally:
        link.unlink()
    assert host.unreachable(Path("/usr/bin/env")) is None


def test_a_path_that_a_unit_would_misread_is_refused() -> None:
    group = click.Group("metabroker")
    for odd in ("/opt/meta broker/bin/metabroker", "/opt/%h/metabroker", "/opt/a;b/metabroker"):
        with pytest.raises(files.UnusablePath):
            files.wanted(PurePosixPath(odd), group, {})
