"""The OpenAPI document says what the code does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from metabroker.api import openapi
from metabroker.api.calls import CALLS, WAIT, Asked
from metabroker.api.client import Client
from metabroker.api.fair_executor import FairExecutor
from metabroker.api.middleware import Middleware
from metabroker.api.routes import Routes
from metabroker.api.service import ServiceError
from tests.api.fake import FakeService
from tests.api.test_routes import WIRE

DOCUMENT = openapi.document()


class Query(Mapping[str, str]):
    """A query that knows what it was asked for."""

    def __init__(self) -> None:
        self.keys_asked: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.keys_asked.add(key)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
    "boolean": bool, "null": type(None),
}  # fmt: skip


def has(schema: Mapping[str, Any], value: Any) -> None:
    """The answer has what is promised of it."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        has(DOCUMENT["components"]["schemas"][name], value)
    if "enum" in schema:
        assert value in schema["enum"]
    if "type" in schema:
        named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(isinstance(value, TYPES[name]) for name in named), (schema, value)
    for name in schema.get("required", ()):
        assert name in value, name
        has(schema["properties"][name], value[name])
    for each in value if isinstance(value, list) else ():
        has(schema.get("items", {}), each)


def of(name: str) -> Mapping[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_it_has_each_route_that_is_served(service: FakeService) -> None:
    fair = FairExecutor(1, "api")
    routes = Routes(service, ThreadPoolExecutor(1), fair, fair, Middleware())
    served = {
        (route.method, route.resource.canonical)
        for route in routes.application().router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    told = {(m.upper(), path) for path, each in DOCUMENT["paths"].items() for m in each}
    assert told == served


@pytest.mark.parametrize("call", [*CALLS, WAIT], ids=lambda call: call.name)
def test_each_call_reads_the_query_that_it_tells(call: Any) -> None:
    query = Query()
    with contextlib.suppress(ServiceError):
        call.arguments(Asked({"job": "17", "cluster": "delft"}, query, {}))
    read_by_its_route = {"submit": {"dry_run"}, "wait": {"timeout"}}.get(call.name, set())
    assert query.keys_asked | read_by_its_route == set(openapi.SAID[call.name].query)


def test_it_is_served_and_answers_are_as_it_says(client: Client) -> None:
    assert client.get("openapi.json") == DOCUMENT
    has(of("Submission"), WIRE)
    wire = DOCUMENT["components"]["schemas"]["Submission"]
    assert WIRE.keys() <= wire["properties"].keys() and wire["additionalProperties"] is False
    has(of("Job"), client.submit(WIRE))
    has(of("Job"), client.get("jobs/1"))
    has(of("Jobs"), client.get("jobs"))
    has(of("Clusters"), client.get("clusters"))


def test_every_reference_leads_somewhere() -> None:
    def references(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            for key, value in part.items():
                if key == "$ref":
                    yield value
                yield from references(value)
        elif isinstance(part, list):
            for each in part:
                yield from references(each)

    for reference in references(DOCUMENT):
        assert reference.removeprefix("#/components/schemas/") in DOCUMENT["components"]["schemas"]
    names = [each["operationId"] for path in DOCUMENT["paths"].values() for each in path.values()]
    assert len(set(names)) == len(names)
