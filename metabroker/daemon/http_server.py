"""What the daemon serves at its HTTP address: its metrics, and the page as it is configured."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from aiohttp import web
from prometheus_client import CollectorRegistry

from metabroker.api.service import Service, ServiceError, read
from metabroker.config.model import Config
from metabroker.web import data
from metabroker.web.feed import Feed, NotReadable
from metabroker.web.guards import loopback, own_names
from metabroker.web.page import Page
from metabroker.web.probes import Health, probes
from metabroker.web.scrape import scrape
from metabroker.web.server import WebServer

log = logging.getLogger(__name__)


class HttpServer:
    """Serves, if the configuration names an address, between `start` and `stop`."""

    def __init__(
        self, config: Config, service: Service, registry: CollectorRegistry, health: Health
    ) -> None:
        self._address = config.metrics
        self._measure = config.page
        self._service = service
        self._registry = registry
        self._health = health
        here = self._address is not None and loopback(self._address.host)
        self._server = WebServer(self._routes, [own_names()] if here else ())

    def start(self) -> None:
        """Serve; without it the daemon does its work all the same, so failing is a warning."""
        address = self._address
        if address is None:
            return
        try:
            self._server.start(address.host, address.port)
        except OSError as error:
            log.warning("no metrics and no page: cannot listen at %s: %s", address, error.strerror)

    def stop(self) -> None:
        """Serve no more."""
        self._server.stop()

    def _routes(self, executor: Executor, stopping: asyncio.Event) -> list[web.RouteDef]:
        routes = [*scrape(self._registry, executor), *probes(self._health, executor)]
        if self._measure is not None:
            read = self._everything if self._measure == "jobs" else self._totals
            one = self._job if self._measure == "jobs" else None
            routes += Page(Feed(read, executor), stopping, one).routes()
        return routes

    def _totals(self) -> dict[str, Any]:
        return data.totals(_readable(lambda: read(self._service, "totals")))

    def _everything(self) -> dict[str, Any]:
        return data.everything(_readable(lambda: read(self._service, "overview")))

    def _job(self, number: int) -> dict[str, Any]:
        return data.one_job(_readable(lambda: read(self._service, "job", job=number)))


def _readable(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except ServiceError as error:
        raise NotReadable(error.message) from error
    except TimeoutError as error:
        raise NotReadable("the daemon's core does not answer") from error
