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
    """Print the completion script for SHELL: bash, zsh or fish.

    It completes commands, options and the names of clusters.
    """
    from click.shell_completion import get_completion_class

    from metabroker.cli.main import group

    found = get_completion_class(shell)
    assert found is not None
    print(f"# {_USE[shell]}")
    print(found(group, {}, "metabroker", "_METABROKER_COMPLETE").source())
