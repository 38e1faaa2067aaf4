"""What a request asks for: its name in the audit log, what it needs, and whether it changes
anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from metabroker.access.secret import Scope

from .calls import BY_ROUTE, DRY_RUN


@dataclass(frozen=True, slots=True)
class Action:
    """One kind of request. `local`: for the Unix socket only."""

    name: str
    scope: Scope = Scope.SUBMIT
    changes: bool = True
    local: bool = False
    job: int | None = None
    cluster: str | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What it is about, as the audit log tells it."""
        told = {"job": self.job, "cluster": self.cluster}
        return {key: value for key, value in told.items() if value is not None}


_LONGEST = 64  # characters of a cluster's name that are told
_TOKENS = {
    ("POST", "/v1/tokens"): Action("token create", local=True),
    ("GET", "/v1/tokens"): Action("token list", changes=False, local=True),
    ("POST", "/v1/tokens/{token}/revoke"): Action("token revoke", local=True),
}
_READ = Action("read", Scope.READ, changes=False)
_NOTHING = Action("none", Scope.READ, changes=False)


def action_of(request: web.Request) -> Action:
    """The request's action; one for which there is no route changes nothing."""
    resource = request.match_info.route.resource
    if resource is None:
        return _NOTHING
    of_tokens = _TOKENS.get((request.method, resource.canonical))
    if of_tokens is not None:
        return of_tokens
    if request.method != "POST":
        return _READ
    call = BY_ROUTE.get((request.method, resource.canonical))
    name = "none" if call is None else call.name
    if name == "submit" and request.query.get("dry_run") == "1":
        return Action(DRY_RUN.name, changes=False)
    job = request.match_info.get("job", "")
    number = int(job) if job.isascii() and job.isdigit() and len(job) <= 18 else None
    cluster = request.match_info.get("cluster")
    return Action(name, job=number, cluster=None if cluster is None else cluster[:_LONGEST])
