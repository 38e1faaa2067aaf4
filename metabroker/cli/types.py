"""Values of the options of `submit`, on the command line and in `#METABROKER` lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from metabroker.cli.common import Parsing, remote, socket_of
from metabroker.submission import requests
from metabroker.submission.dependency import parse_dependency
from metabroker.submission.errors import SubmissionError
from metabroker.submission.inputs import parse_input
from metabroker.submission.optional import elastic
from metabroker.submission.tasks import parse_array
from metabroker.submission.times import parse_time

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Parsed(Parsing):
    """What a parser of `metabroker.submission` makes of the text; its errors name the option."""

    def __init__(self, name: str, parser: Callable[[str], Any]) -> None:
        self.name = name
        self._parser = parser

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parser(str(value))
        except SubmissionError as error:
            option = param.opts[-1] if param is not None else self.name
            raise SubmissionError(f"{option}: {error.message}", error.advice) from error


class ClusterName(Parsing):
    """A cluster's name; whether there is one, the daemon knows."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return _completed(name for name in cluster_names() if name.startswith(incomplete))


class Placements(Parsed):
    """`delft:16,leiden:8`; completes the names."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return _completed(
            f"{before}{comma}{name}:"
            for name in cluster_names()
            if ":" not in last and name.startswith(last)
        )


def _completed(words: Iterable[str]) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(word) for word in words]


COUNT = Parsed("number", requests.parse_count)
COMPONENTS = Parsed("sizes", partial(elastic, parse=requests.parse_components))
GPUS = Parsed("number", partial(requests.parse_count, what="GPUs"))
MEMORY = Parsed("memory", requests.parse_memory)
ON = Placements("clusters", partial(elastic, parse=requests.parse_on))
NATIVE = Parsed("native", requests.parse_native)
LATENCY = Parsed("milliseconds", requests.parse_latency)
INPUT = Parsed("file", lambda text: str(parse_input(text)))
TIME = Parsed("time", parse_time)
ARRAY = Parsed("tasks", lambda text: str(parse_array(text)))
DEPENDENCY = Parsed("dependency", lambda text: str(parse_dependency(text)))


def cluster_names() -> list[str]:
    """The daemon's clusters; none where it does not answer at once."""
    from metabroker.api.client import Client, ClientError

    try:
        way = remote(None) or socket_of(None)
        answer = Client(way, timeout=1.0, patience=0.0).get("clusters")
    except ClientError:
        return []
    return [str(cluster["name"]) for cluster in answer["clusters"]]
