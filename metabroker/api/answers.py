"""Answers of the API: JSON always, errors as `{"error": ..., "advice": ...}`, no traceback."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from metabroker.api.service import Failure, ServiceError
from metabroker.submission.errors import SubmissionError

log = logging.getLogger(__name__)

_LOOK = "check whether it was done before you repeat it"


def encode(data: Any) -> bytes:
    """`data` as JSON."""
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def answer(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A JSON answer."""
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)


def refusal(
    status: int, message: str, advice: str = "", headers: Mapping[str, str] | None = None
) -> web.Response:
    """An answer that says what is wrong, and what to do about it."""
    return answer(encode({"error": message, "advice": advice}), status, headers)


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error of a handler as JSON; what nobody expected is logged and not told."""
    try:
        return await handler(request)
    except ServiceError as error:
        return refusal(error.failure.value, error.message, error.advice, error.headers)
    except SubmissionError as error:
        return refusal(Failure.INVALID.value, error.message, error.advice)
    except web.HTTPException as error:
        return _http(request, error)
    except MemoryError:
        # Whether it was carried out nobody knows; so who asked repeats it, or is told how to.
        log.error("too little memory for %s %s", request.method, request.path)
        return refusal(Failure.UNDECIDED.value, "the daemon is short of memory now", _LOOK)
    except Exception:
        log.exception("unexpected error in %s %s", request.method, request.path)
        return refusal(500, "the daemon met an unexpected error", "its log says more")


def _http(request: web.Request, error: web.HTTPException) -> web.Response:
    if error.status == 413:
        return refusal(413, "the request is too large", "a script may have at most 4 MB")
    if error.status == 404:
        advice = "use the `metabroker` command of the daemon's own version"
        return refusal(404, f"there is nothing at {request.path}", advice)
    return refusal(error.status, error.reason)
