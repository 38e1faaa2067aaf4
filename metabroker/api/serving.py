"""How aiohttp serves, here and at the address of the metrics: nothing that comes is unpacked, and
what a client does wrong is no traceback in the log."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

_KEEP_ALIVE = 15.0  # seconds an idle connection stays open


class _OwnErrors(logging.Filter):
    """Lets pass what is the server's own error. What a client sends is answered by a 4xx; and a
    request that is answered at the very end of the time it is given when the server ends is no
    error (aiohttp takes it for one after its answer is sent)."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, asyncio.InvalidStateError):
            frames = traceback.extract_tb(error.__traceback__)
            return not frames or frames[-1].name != "_handle_request"
        return not isinstance(
            error, HttpProcessingError | ConnectionError | web.RequestPayloadError
        )


_log = logging.getLogger("metabroker.http")
_log.addFilter(_OwnErrors())


def runner(application: web.Application, shutdown: float) -> web.AppRunner:
    """What serves the application. `shutdown`: seconds that requests under way are given."""
    options: dict[str, Any] = {"auto_decompress": False, "logger": _log}
    return web.AppRunner(
        application,
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=_KEEP_ALIVE,
        shutdown_timeout=shutdown,
        **options,
    )
