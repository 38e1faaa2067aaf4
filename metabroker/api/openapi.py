"""The API as an OpenAPI document: `GET /v1/openapi.json`.

Routes come from `metabroker.api.calls`, and what a submission may have from the description of a
job itself. What else is told here the tests hold against the code: that each call reads the query
that stands here and no other, and that the answers of a daemon have what is promised.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from metabroker import __version__
from metabroker.access.secret import Scope
from metabroker.api.calls import CALLS, WAIT
from metabroker.api.service import Failure

Json = dict[str, Any]

ROUTE = "/v1/openapi.json"


class Said(NamedTuple):
    """What is told of a call: what it does, the parameters of its query with their types, the
    schema of its answer, and of its body."""

    text: str
    query: Mapping[str, str] = {}
    answer: str = "Job"
    body: Json | None = None


_REASON = {"type": "object", "properties": {"reason": {"type": "string", "maxLength": 400}}}
_LIMITS = {
    "type": "object",
    "minProperties": 1,
    "properties": {"time_limit": {"type": "integer"}, "most": {"type": "integer"}},
    "additionalProperties": False,
}
_NAMES = {"type": ["array", "null"], "items": {"type": "string"}, "minItems": 1}
_SINCE = {"user": "string", "since": "number"}

SAID: Mapping[str, Said] = {
    "submit": Said(
        "Queue a job. With the `request_id` of one that is there it is that job again. "
        "`dry_run=1`: where and when it would run now; nothing is queued.",
        {"dry_run": "string"},
        body={"$ref": "#/components/schemas/Submission"},
    ),
    "queue": Said("The jobs that have not ended.", {"user": "string", "limit": "integer"}, "Jobs"),
    "job": Said("One job, with its events: of very many some (`events_left_out`)."),
    "cancel": Said("End a job, or tasks of an array (`17_[0-9]`)."),
    "hold": Said("Keep a job from starting."),
    "release": Said("Hold it no more."),
    "change": Said("Other limits for a job that waits.", body=_LIMITS),
    "abandon": Said("Write off what clusters still hold of it; for administrators."),
    "wait": Said(
        "The job, once it has ended or `timeout` seconds have passed.", {"timeout": "number"}
    ),
    "history": Said(
        "Jobs that have ended, by their ends. `next` goes on: give it as `after`.",
        {**_SINCE, "until": "number", "state": "string", "limit": "string", "page": "integer"}
        | {"after": "string"},
        "Jobs",
    ),
    "records": Said(
        "These jobs (`jobs=17,18`), or those that have not ended or have since then, each with "
        "what its user asked for.",
        {"jobs": "string", **_SINCE},
        "Jobs",
    ),
    "clusters": Said("The clusters.", answer="Clusters"),
    "names": Said(
        "What scripts may call partitions, and a user's accounts (null: anything).",
        {"user": "string"},
        "Names",
    ),
    "drain": Said(
        "Nothing new goes to the cluster; for administrators.", answer="Cluster", body=_REASON
    ),
    "resume": Said("The cluster is used again; for administrators.", answer="Cluster"),
    "links": Said("What was measured between clusters.", answer="Object"),
    "tell links": Said(
        "Keep what was measured between clusters; for administrators.",
        answer="Object",
        body={
            "type": "object",
            "required": ["links"],
            "properties": {"links": {"type": "array", "items": {"type": "object"}}},
        },
    ),
    "status": Said("The daemon itself.", answer="Object"),
    "leftovers": Said("After a restore: what nobody remembers.", answer="Object"),
    "remove leftovers": Said(
        "Have some of them removed, or all (null); for administrators.",
        answer="Object",
        body={"type": "object", "required": ["names"], "properties": {"names": _NAMES}},
    ),
    "overview": Said("All that a page shows, of one moment.", answer="Object"),
}
"""By the calls' names."""

_TOKEN_BODY = {
    "type": "object",
    "required": ["scope", "seconds"],
    "properties": {
        "scope": {"enum": [scope.value for scope in Scope]},
        "seconds": {"type": "integer"},
        "user": {"type": "string"},
        "name": {"type": "string", "maxLength": 100},
    },
    "additionalProperties": False,
}
OTHERS: Mapping[tuple[str, str], Said] = {
    ("GET", "/v1/whoami"): Said("Whom the daemon takes the caller for.", answer="Object"),
    ("POST", "/v1/tokens"): Said(
        "A new token, told this once; on the Unix socket only.", answer="Object", body=_TOKEN_BODY
    ),
    ("GET", "/v1/tokens"): Said(
        "The caller's tokens; on the Unix socket only.",
        {"user": "string", "all": "string"},
        "Object",
    ),
    ("POST", "/v1/tokens/{token}/revoke"): Said(
        "The token is good for nothing from now on; on the Unix socket only.", answer="Object"
    ),
    ("GET", ROUTE): Said("This document.", answer="Object"),
}
"""Routes that are no calls."""

_TIME = {"type": ["number", "null"], "description": "Unix seconds"}
_TEXT, _COUNT = {"type": "string"}, {"type": "integer"}
_STATES = "QUEUED HELD RESERVING SUBMITTING WAITING RUNNING COMPLETED FAILED CANCELLED TIMEOUT"
_EXIT = {"type": ["integer", "null"]}


def _object(**properties: Json) -> Json:
    """One that always has these, and may have more."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _listed(name: str, of: str) -> Json:
    return _object(**{name: {"type": "array", "items": {"$ref": f"#/components/schemas/{of}"}}})


SCHEMAS: Mapping[str, Json] = {
    "Object": {"type": "object"},
    "Error": _object(error=_TEXT, advice=_TEXT),
    "Component": _object(
        index=_COUNT,
        cluster={"type": ["string", "null"], "description": "null: it is not placed yet"},
        processors=_COUNT,
        state={"enum": _STATES.split()},
        native_id={"type": ["string", "null"]},
        hosts={"type": "array", "items": _TEXT},
        start_time=_TIME,
        end_time=_TIME,
        exit_code=_EXIT,
    ),
    "Job": _object(
        job=_COUNT,
        name=_TEXT,
        user=_TEXT,
        state={"enum": _STATES.split()},
        reason=_TEXT,
        processors=_COUNT,
        time_limit={"type": "integer", "description": "seconds"},
        submit_time=_TIME,
        start_time=_TIME,
        end_time=_TIME,
        exit_code=_EXIT,
        attempts=_COUNT,
        components={"type": "array", "items": {"$ref": "#/components/schemas/Component"}},
    ),
    "Jobs": _listed("jobs", "Job"),
    "Cluster": _object(
        name=_TEXT,
        system=_TEXT,
        processors=_COUNT,
        idle={"type": ["integer", "null"]},
        reachable={"type": "boolean"},
        drained={"type": ["object", "null"]},
    ),
    "Clusters": _listed("clusters", "Cluster"),
    "Names": _object(
        partitions={"type": "array", "items": {"$ref": "#/components/schemas/Partition"}},
        accounts={"type": ["array", "null"], "items": _TEXT},
        default_time={"type": "integer", "description": "seconds"},
        max_time={"type": ["integer", "null"], "description": "seconds"},
    ),
    "Partition": _object(name=_TEXT, clusters={"type": "array", "items": _TEXT}),
}
"""What is promised of answers; they may have more."""


@cache
def document() -> Json:
    """The whole of it."""
    paths: dict[str, Json] = {}
    said = {(call.method, call.path): (call.name, SAID[call.name]) for call in (*CALLS, WAIT)}
    said |= {(method, path): (f"{method} {path}", told) for (method, path), told in OTHERS.items()}
    for (method, path), (name, told) in said.items():
        paths.setdefault(path, {})[method.lower()] = _operation(name, path, told)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "metabroker",
            "version": __version__,
            "description": "Jobs over several clusters. Over the Unix socket the kernel says who "
            "asks; over TLS a token does.",
        },
        "paths": paths,
        "components": {
            "schemas": {**SCHEMAS, **_submission()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(name: str, path: str, told: Said) -> Json:
    parameters = [
        {"name": part, "in": "path", "required": True, "schema": _TEXT}
        for part in re.findall(r"\{(\w+)\}", path)
    ]
    parameters += [
        {"name": key, "in": "query", "schema": {"type": kind}} for key, kind in told.query.items()
    ]
    made: Json = {
        "operationId": re.sub(r"\W+", "_", name.lower()).strip("_"),
        "description": told.text,
        "parameters": parameters,
        "responses": {
            "200": _content({"$ref": f"#/components/schemas/{told.answer}"}, "done"),
            "default": _content(
                {"$ref": "#/components/schemas/Error"},
                "not done: " + ", ".join(f"{f.value} {f.name.lower()}" for f in Failure),
            ),
        },
    }
    if told.body is not None:
        made["requestBody"] = {"required": True} | _content(told.body)
    return made


def _content(schema: Json, description: str = "") -> Json:
    found: Json = {"content": {"application/json": {"schema": schema}}}
    return {"description": description, **found} if description else found


def _submission() -> dict[str, Json]:
    """The schemas of a job as it is submitted: the very description that it is checked by."""
    from metabroker.submission.wire import schema

    found = schema()
    parts = found.pop("$defs", {})
    found["properties"]["script"] = {"type": "string", "contentEncoding": "base64"}
    return {"Submission": found, **parts}
