"""What Prometheus is answered."""

from __future__ import annotations

from concurrent.futures import Executor

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from .one_at_a_time import OneAtATime


def scrape(registry: CollectorRegistry, executor: Executor) -> list[web.RouteDef]:
    """The route of /metrics. Collecting asks the core's thread, so it runs in `executor`."""
    scrapes = OneAtATime(executor)

    async def handler(request: web.Request) -> web.Response:
        encode, kind = choose_encoder(request.headers.get("Accept", ""))
        names = request.query.getall("name[]", [])
        some = registry.restricted_registry(names) if names else registry
        body = await scrapes.call(lambda: encode(some))
        response = web.Response(body=body, headers={"Content-Type": kind})
        response.enable_compression()
        return response

    return [web.get("/metrics", handler)]
