"""The manual pages and completion scripts, as the Debian package has them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pytest

from metabroker import __version__
from metabroker.cli.main import COMMANDS, group
from tests.testbed.processes import captured
from tools import manual


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("manual")
    manual.main(folder)
    return {path.name: path.read_text() for path in folder.glob("man?/*")}


def options(command: click.Command) -> set[str]:
    return {opt for param in command.params for opt in param.opts if opt.startswith("-")}


def test_there_is_a_page_of_every_command_with_every_option(pages: dict[str, str]) -> None:
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        page = pages[f"metabroker-{name}.1"].replace("\\-", "-")
        assert not [option for option in options(command) if option not in page], name
        assert f"metabroker-{name}(1)" in pages["metabroker.1"].replace("\\-", "-")
        if isinstance(command, click.Group):
            for inner in command.commands:
                assert f"metabroker-{name}-{inner}.1" in pages
    assert __version__ in pages["metabroker.1"]


def test_the_configurations_page_has_the_commented_example(pages: dict[str, str]) -> None:
    """Which has every key and its default: tests/config/test_examples.py."""
    page = pages["metabroker.yaml.5"].replace("\\-", "-").replace("\\(aq", "'")
    example = (manual.TEXTS.parents[1] / "configs" / "metabroker.yaml").read_text()
    keys = re.findall(r"^ *[a-z_]+:", example, re.M)
    assert len(keys) > 50 and not [key for key in keys if key not in page]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed here")
def test_the_pages_are_read_without_a_warning(pages: dict[str, str], tmp_path: Path) -> None:
    for name, page in pages.items():
        words = ["groff", "-ww", "-b", "-man", "-K", "utf8", "-Tutf8", "-z"]
        if shutil.which("preconv") is None:
            words = [word for word in words if word not in ("-K", "utf8")]
        read = captured(words, input=page, check=True)
        assert read.stderr == "", name
