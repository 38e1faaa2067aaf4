"""The page of one user, in a process of that user's: what it shows the daemon's API has told it, so
that whatever holds for the user there holds here."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from aiohttp import web

from metabroker.api.client import ClientError
from metabroker.web import data

from .feed import Feed, NotReadable
from .guards import own_names, with_key
from .page import Page
from .server import WebServer


class OwnPage:
    """Serves between `start` and `stop`, to who has `key`. It outlives the daemon, and then says
    that it is not connected."""

    def __init__(
        self, read: Callable[[], dict[str, Any]], read_job: Callable[[int], dict[str, Any]], me: str
    ) -> None:
        """`read` is the API's overview with all jobs of `me`, the user who looks; `read_job` one
        job with its events. They raise `ClientError`."""
        self._read = read
        self._read_job = read_job
        self._me = me
        self.key = secrets.token_urlsafe(24)
        guards = [own_names(), with_key(self.key)]
        self._server = WebServer(self._routes, guards)

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.port

    def start(self, host: str, port: int) -> None:
        """Serve. Raises `OSError`."""
        self._server.start(host, port)

    def wait(self) -> None:
        """Until a signal comes."""
        threading.Event().wait()

    def stop(self) -> None:
        """Serve no more."""
        self._server.stop()

    def _routes(self, executor: Executor, stopping: asyncio.Event) -> list[web.RouteDef]:
        return Page(Feed(self._overview, executor), stopping, self._job).routes()

    def _overview(self) -> dict[str, Any]:
        try:
            return {**data.everything(self._read()), "me": self._me}
        except ClientError as error:
            raise NotReadable(error.message) from error

    def _job(self, number: int) -> dict[str, Any]:
        try:
            return data.one_job(self._read_job(number))
        except ClientError as error:
            raise NotReadable(error.message) from error
