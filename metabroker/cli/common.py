"""What the commands share: the daemon's socket, `--json`, job ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from metabroker.api.client import Client, Endpoint
from metabroker.cli.errors import USAGE, CliError, tell
from metabroker.paths import find_socket, token_file
from metabroker.submission.tasks import TaskSet

if TYPE_CHECKING:
    from metabroker.config import Config

    Parsing = click.ParamType[Any]
else:
    Parsing = click.ParamType  # which older releases of click do not subscribe

_F = TypeVar("_F", bound=Callable[..., Any])


def json_option(command: _F) -> _F:
    """Add `--json`."""
    text = "print one JSON document, and nothing else, on stdout"
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


def socket_option(command: _F) -> _F:
    """Add `--socket`, and for a daemon elsewhere `--server` and `--ca-file`."""
    for option, metavar, text in (
        (
            "--ca-file",
            "FILE",
            "who must have signed its certificate (default: $METABROKER_CA_FILE)",
        ),
        ("--server", "URL", "a daemon elsewhere, by a token (default: $METABROKER_URL)"),
    ):
        command = click.option(
            option, metavar=metavar, help=text, expose_value=False, callback=_keep
        )(command)
    text = "the daemon's socket (default: $METABROKER_SOCKET, else the usual places)"
    return click.option("--socket", "socket_path", metavar="PATH", help=text)(command)


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """For `connect`: so that commands need not pass on what all of them take."""
    context.meta[f"metabroker.{option.name}"] = value


def socket_of(named: str | None) -> Path:
    """The daemon's socket, by option, environment, or default path."""
    text = named or os.environ.get("METABROKER_SOCKET")
    return Path(text) if text else find_socket()


def connect(socket_path: str | None) -> Client:
    """A client of the daemon of the options, the environment, or the default socket.

    A daemon elsewhere (METABROKER_URL) comes before a socket of the environment.
    """
    way = remote(socket_path)
    return Client(socket_of(socket_path) if way is None else way)


def remote(socket_path: str | None) -> Endpoint | None:
    """The way to a daemon elsewhere, if one is wanted. Raises `ClientError`."""
    context = click.get_current_context(silent=True)
    given: dict[str, str | None] = {} if context is None else context.meta
    url, ca_file = given.get("metabroker.server"), given.get("metabroker.ca_file")
    if url is not None and socket_path is not None:
        raise CliError("--server and --socket cannot go together", "leave one of them out", USAGE)
    if url is None and socket_path is None:
        url = os.environ.get("METABROKER_URL")
    if not url:
        return None
    from metabroker.api.remote import Remote

    authority = ca_file or os.environ.get("METABROKER_CA_FILE")
    return Remote(url, token_file(), Path(authority) if authority else None)


def configuration(file: str) -> Config:
    """The configuration in a file. Raises `CliError` with its last error; the others are told."""
    from metabroker.config import ConfigErrors, load

    try:
        return load(file)
    except ConfigErrors as found:
        *others, last = found.errors
        for error in others:
            tell(str(error))
        what, _, advice = str(last).partition("; ")
        raise CliError(what, advice or "correct it", USAGE) from found


def print_json(data: object) -> None:
    """The one JSON document of a command."""
    import json

    print(json.dumps(data, indent=2))


def print_json_pages(key: str, pages: Iterable[list[dict[str, Any]]]) -> None:
    """`{key: [...]}` as one JSON document, page by page as they come. A list of one page is
    indented; a longer one has an object a line."""
    import json

    rest = iter(pages)
    first, second = next(rest, []), next(rest, None)
    if second is None:
        print_json({key: first})
        return
    before = f'{{"{key}": [\n'
    for page in chain((first, second), rest):
        print(before + ",\n".join(map(json.dumps, page)), end="")
        before = ",\n"
    print("\n]}")


class JobId(Parsing):
    """The number of a job."""

    name = "job"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if text.isascii() and text.isdigit() and 0 < len(text) <= 18:
            return int(text)
        raise CliError(f"{ascii(text)[:60]} is not a job id", "give the number of a job", USAGE)


class JobOrTasks(Parsing):
    """The number of a job, or tasks of an array: `17_3`, `17_[0-9,12]`."""

    name = "job"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        number, line, tasks = str(value).partition("_")
        job = JobId().convert(number, param, ctx)
        if not line:
            return job
        inner = tasks[1:-1] if tasks.startswith("[") and tasks.endswith("]") else tasks
        return f"{job}_[{TaskSet.parse(inner)}]"
