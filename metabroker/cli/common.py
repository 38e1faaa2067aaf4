"""What the commands share: the daemon's socket, `--json`, job ids."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from metabroker.api.client import Client
from metabroker.cli.errors import USAGE, CliError
from metabroker.paths import find_socket

_F = TypeVar("_F", bound=Callable[..., Any])


def json_option(command: _F) -> _F:
    """Add `--json`."""
    text = "print one JSON document, and nothing else, on stdout"
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


def socket_option(command: _F) -> _F:
    """Add `--socket`."""
    text = "the daemon's socket (default: $METABROKER_SOCKET, else the usual places)"
    return click.option("--socket", "socket_path", metavar="PATH", help=text)(command)


def socket_of(named: str | None) -> Path:
    """The daemon's socket, by option, environment, or default path."""
    text = named or os.environ.get("METABROKER_SOCKET")
    return Path(text) if text else find_socket()


def connect(socket_path: str | None) -> Client:
    """A client of the daemon at the socket of the option, the environment, or the default."""
    return Client(socket_of(socket_path))


def print_json(data: object) -> None:
    """The one JSON document of a command."""
    import json

    print(json.dumps(data, indent=2))


class JobId(click.ParamType[int]):
    """The number of a job."""

    name = "job"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if text.isascii() and text.isdigit() and 0 < len(text) <= 18:
            return int(text)
        raise CliError(f"{ascii(text)[:60]} is not a job id", "give the number of a job", USAGE)
