"""Who is let look at a page that is only for this host, or only for one reader."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler


def loopback(host: str) -> bool:
    """Whether an address to listen at can only be reached from this host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_names() -> Any:
    """For what is served at the loopback address: it must be asked for by that name, also /metrics.

    Else any web page that somebody on this host opens could have its own name lead here, and so
    read what is meant for this host.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if loopback(_name(request.host)):
            return await handler(request)
        return web.Response(
            status=421,
            text="this page is for this host only: open it as http://127.0.0.1:PORT/ "
            "(a proxy must ask for it by that name)\n",
        )

    return guard


def with_key(key: str) -> Any:
    """For a page that belongs to one user: who has the key is given a cookie, others nothing.

    The key is in the address that is opened first, and is gone from it then. A cookie goes to all
    ports of a host, so each key's has a name of its own.
    """
    cookie = f"metabroker-{hashlib.sha256(key.encode()).hexdigest()[:12]}"

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if _same(request.query.get("key", ""), key):
            answer = web.Response(
                status=303, headers={"Location": "/", "Cache-Control": "no-store"}
            )
            answer.set_cookie(cookie, key, httponly=True, samesite="Strict", path="/")
            return answer
        if _same(request.cookies.get(cookie, ""), key):
            return await handler(request)
        return web.Response(
            status=403, text="open the whole address that `metabroker page` has printed\n"
        )

    return guard


def _name(host: str) -> str:
    """The Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _same(given: str, key: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), key.encode())
