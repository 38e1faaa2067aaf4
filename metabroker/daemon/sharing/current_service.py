"""The service of now: a broker stands by, and then leads, while its sockets stay open."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from metabroker.api.service import Json, Service
from metabroker.submission.model import Caller


class CurrentService:
    """Hands every call on to `service`, which may be replaced at any time."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        """See `metabroker.api.service.Service`."""
        return self.service.call(caller, name, arguments)
