"""`metabroker completion`."""

from __future__ import annotations

import click

_USE = {
    "bash": 'eval "$(metabroker completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(metabroker completion zsh)"   # in ~/.zshrc',
    "fish": "metabroker completion fish | source   # in ~/.config/fish/config.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_USE)))
def completion(shell: str) -> None:
    """Print the completion script of a SHELL: bash, zsh or fish.

    Commands, options and the names of clusters are completed.
    """
    from metabroker.cli.main import group
    from metabroker.installation.files import completion as script

    print(f"# {_USE[shell]}")
    print(script(shell, group))
