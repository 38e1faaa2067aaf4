"""The manual pages: `python tools/manual.py FOLDER` writes man1, man5 and man7 into it.

click-man makes those of the commands from what `--help` says, docutils the others from docs/man.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click_man.core import write_man_pages
from docutils.core import publish_file
from docutils.writers import manpage

from metabroker import __version__
from metabroker.cli.main import COMMANDS, group

TEXTS = Path(__file__).parents[1] / "docs" / "man"


def main(folder: Path) -> None:
    """Write all pages into `folder`/man*."""
    for section in ("man1", "man5", "man7"):
        (folder / section).mkdir(parents=True, exist_ok=True)
    write_man_pages("metabroker", _loaded(), version=__version__, target_dir=folder / "man1")
    for text in sorted(TEXTS.glob("*.rst")):
        publish_file(
            source_path=str(text),
            destination_path=str(folder / f"man{text.stem[-1]}" / text.stem),
            writer=manpage.Writer(),
            settings_overrides={"halt_level": 2},
        )


def _loaded() -> click.Group:
    """The commands, which are loaded when they are used, all at once."""
    context = click.Context(group)
    found = click.Group("metabroker", help=group.help, short_help="front door to batch clusters")
    for name, (_, summary) in COMMANDS.items():
        command = group.get_command(context, name)
        assert command is not None
        command.short_help = summary
        found.add_command(command, name)
        for inner in command.commands.values() if isinstance(command, click.Group) else ():
            inner.short_help = inner.get_short_help_str(100)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
