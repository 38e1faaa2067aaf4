"""Every call of the API: its name, its route, and its arguments. A new call is one entry here.

The name is the one that the service, the audit log and other brokers know it by. Arguments are
JSON: a broker that stands by passes a call on to the one that leads as it came.

| route | answers |
|---|---|
| `POST /v1/jobs` | the new job, once it is durable; `?dry_run=1`: where it would run |
| `GET /v1/jobs?user=&limit=` | `{"jobs": [...]}`: those that have not ended |
| `GET /v1/jobs/{id}` | one job with its events; of very many some, and \
`events_left_out` |
| `POST /v1/jobs/{id}/cancel`, `hold`, `release` | the job; `{id}` may be `17_3` or `17_[0-9]`, \
tasks of an array |
| `POST /v1/jobs/{id}/change` | the job, with other limits: `{"time_limit": seconds}`, and of an \
array `{"most": tasks}` |
| `POST /v1/jobs/{id}/abandon` | the job, of which an administrator writes off what is left |
| `GET /v1/jobs/{id}/wait?timeout=` | the job, once it has ended or `timeout` seconds have passed |
| `GET /v1/history?user=&state=&since=&until=&limit=&page=&after=` | `{"jobs": [...], "next", \
"older"}`: ended ones |
| `GET /v1/records?jobs=&user=&since=` | `{"jobs": [...]}`: these, or those that have not ended or \
have since then, each with what its user asked for |
| `GET /v1/clusters` | `{"clusters": [...]}` |
| `GET /v1/names?user=` | what a user's scripts may call partitions and accounts |
| `POST /v1/clusters/{cluster}/drain` | the cluster, to which nothing new goes any more, for the \
`reason` in the body; for administrators |
| `POST /v1/clusters/{cluster}/resume` | the cluster, which is used again; for administrators |
| `GET /v1/links` | `{"links": [...]}`: what was measured between clusters |
| `POST /v1/links` | how many such `{"links": [...]}` are kept; for administrators |
| `GET /v1/status` | the daemon itself |
| `GET /v1/leftovers` | after a restore, what nobody remembers: `{"leftovers": [...]}` |
| `POST /v1/leftovers/remove` | those of the names in `{"names": [...]}` (null: all), to go |
| `GET /v1/overview` | all that a page shows, of one moment |

A list of very many jobs comes in chunks (`metabroker.api.pages`). Of `GET /v1/jobs` it has those
jobs that had not ended when it was asked for, and have not when their page is made; each as it is
then, with its position, and why it waits, as of when the list was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metabroker.api.bodies import LARGEST, SMALL
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.submission.tasks import TaskSet

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the variable parts of its path, its query, and its body's JSON."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None


def _tasks(asked: Asked) -> Arguments:
    """A job, or tasks of an array: `17_3`, `17_[0-9,12]`."""
    text, line, tasks = asked.path["job"].partition("_")
    found = _job(Asked({"job": text}, {}))
    if line:
        inner = tasks[1:-1] if tasks.startswith("[") and tasks.endswith("]") else tasks
        found["tasks"] = str(TaskSet.parse(inner))
    return found


def _job(asked: Asked) -> Arguments:
    text = asked.path["job"]
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return {"job": int(text)}
    raise ServiceError(Failure.NOT_FOUND, f"there is no job {text[:40]!r}", "a job id is a number")


_CHANGED = frozenset({"time_limit", "most"})


def _changed(asked: Asked) -> Arguments:
    """Other limits of a job: `time_limit` in seconds, `most` tasks at once."""
    body = asked.body
    sound = isinstance(body, dict) and body and _CHANGED.issuperset(body)
    values = body.values() if sound else ()
    if not sound or not all(type(value) is int and 0 <= value < 2**31 for value in values):
        advice = 'write {"time_limit": 3600}, or {"most": 10} of an array'
        raise ServiceError(Failure.INVALID, "the change is not understood", advice)
    if body.get("time_limit") == 0:
        raise ServiceError(Failure.INVALID, "a time limit is a second at least", "write more")
    return {**_tasks(asked), **body}


def _submission(asked: Asked) -> Arguments:
    return {"submission": asked.body}


def _selection(asked: Asked) -> Arguments:
    return {"user": asked.query.get("user"), "limit": _limit(asked)}


DEFAULT, GREATEST = 1000, 10_000
"""Jobs that `history` tells of where no limit is given, and that one request may name at most."""
LARGEST_PAGE = 2000
"""Ended jobs in one answer: it is in memory until it was read."""
_ALL = "all"
_ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"})


def _history(asked: Asked) -> Arguments:
    found: Arguments = {key: number(asked, key) for key in ("since", "until")}
    found["user"] = asked.query.get("user")
    found["state"] = _states(asked.query.get("state"))
    unlimited = asked.query.get("limit") == _ALL
    found["limit"] = None if unlimited else _limit(asked) or DEFAULT
    found["page"] = min(_limit(asked, "page") or LARGEST_PAGE, LARGEST_PAGE)
    found["after"] = _places(asked.query.get("after"))
    return found


def _records(asked: Asked) -> Arguments:
    words = asked.query.get("jobs")
    numbers = None if words is None else words.split(",")
    if numbers and not all(n.isascii() and n.isdigit() and len(n) <= 18 for n in numbers):
        raise ServiceError(Failure.INVALID, "`jobs` must be numbers", "write them as in 17,18")
    if numbers and len(numbers) > GREATEST:
        raise ServiceError(Failure.INVALID, "`jobs` are too many", f"ask for {GREATEST} at most")
    jobs = None if numbers is None else [int(number) for number in numbers]
    return {"jobs": jobs, "user": asked.query.get("user"), "since": number(asked, "since")}


def _states(text: str | None) -> list[str]:
    words = text.upper().split(",") if text else []
    if not _ENDED.issuperset(words):
        advice = f"write some of {', '.join(sorted(_ENDED))}"
        raise ServiceError(Failure.INVALID, f"{text!r:.40} is not a state of ended jobs", advice)
    return words


def cursor(places: Sequence[Any]) -> str:
    """Two places in the order of ends, as `after` takes them."""
    return ",".join(repr(number) for place in places for number in place)


def _places(text: str | None) -> list[list[float]] | None:
    if text is None:
        return None
    words = text.split(",")
    try:
        times, jobs = [float(word) for word in words[::2]], [int(word) for word in words[1::2]]
    except ValueError:
        times, jobs = [], []
    sound = all(map(math.isfinite, times)) and all(0 <= job < 2**63 for job in jobs)
    if not sound or (len(times), len(jobs)) != (2, 2):
        advice = "give what `next` said in the answer before"
        raise ServiceError(Failure.INVALID, "`after` is no place in the history", advice)
    return [list(place) for place in zip(times, jobs, strict=True)]


def _user(asked: Asked) -> Arguments:
    return {"user": asked.query.get("user")}


def _names(asked: Asked) -> Arguments:
    """Of what is to be removed; None: all of it."""
    names = asked.body.get("names", ()) if isinstance(asked.body, dict) else ()
    sound = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
    if names is not None and not sound:
        advice = "write them as `metabroker leftovers` shows them, or null for all"
        raise ServiceError(Failure.INVALID, "`names` must be a list of names", advice)
    return {"names": names}


LONGEST_REASON = 400
"""Characters of the reason for which a cluster is drained."""


def _cluster(asked: Asked) -> Arguments:
    return {"cluster": asked.path["cluster"]}


def _drain(asked: Asked) -> Arguments:
    reason = asked.body.get("reason", "") if isinstance(asked.body, dict) else None
    if not isinstance(reason, str) or len(reason) > LONGEST_REASON:
        advice = f"write at most {LONGEST_REASON} characters"
        raise ServiceError(Failure.INVALID, "`reason` must be a text", advice)
    return {**_cluster(asked), "reason": reason}


def _links(asked: Asked) -> Arguments:
    links = asked.body.get("links") if isinstance(asked.body, dict) else None
    if not isinstance(links, list):
        advice = "use the `metabroker doctor --links` of the daemon's own version"
        raise ServiceError(Failure.INVALID, "`links` must be a list", advice)
    return {"links": links}


def _nothing(_asked: Asked) -> Arguments:
    return {}


def _about_nothing(_answer: Json) -> Json:
    return {}


def _about_job(answer: Json) -> Json:
    return {"job": answer["job"]} if "job" in answer else {}


def _about_names(answer: Json) -> Json:
    return {"names": [left["name"] for left in answer["leftovers"]]}


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `largest`: bytes of its body at most; 0: it has none. `about`: what the audit log
    tells of its answer."""

    name: str
    method: str
    path: str
    arguments: Callable[[Asked], Arguments] = _nothing
    changes: bool = False
    largest: int = 0
    about: Callable[[Json], Json] = _about_job

    @property
    def ordered(self) -> bool:
        """Whether it changes a job or a cluster, so that one asked later must not overtake it."""
        return self.changes and self.path.startswith(("/v1/jobs", "/v1/clusters"))


def _change(verb: str) -> Call:
    of = _job if verb == "abandon" else _tasks
    return Call(verb, "POST", f"/v1/jobs/{{job}}/{verb}", of, changes=True)


DRY_RUN = Call("dry run", "POST", "/v1/jobs", _submission, largest=LARGEST)
"""`submit` with `?dry_run=1`."""
WAIT = Call("wait", "GET", "/v1/jobs/{job}/wait", _job)
"""Its answer comes when the job has ended."""

CALLS = (
    Call("submit", "POST", "/v1/jobs", _submission, changes=True, largest=LARGEST),
    Call("queue", "GET", "/v1/jobs", _selection),
    Call("job", "GET", "/v1/jobs/{job}", _tasks),
    *(_change(verb) for verb in ("cancel", "hold", "release", "abandon")),
    Call("change", "POST", "/v1/jobs/{job}/change", _changed, changes=True, largest=SMALL),
    Call("history", "GET", "/v1/history", _history),
    Call("records", "GET", "/v1/records", _records),
    Call("clusters", "GET", "/v1/clusters"),
    Call("names", "GET", "/v1/names", _user),
    Call(
        *("drain", "POST", "/v1/clusters/{cluster}/drain", _drain),
        changes=True,
        largest=SMALL,
        about=_about_nothing,
    ),
    Call(
        *("resume", "POST", "/v1/clusters/{cluster}/resume", _cluster),
        changes=True,
        about=_about_nothing,
    ),
    Call("links", "GET", "/v1/links"),
    Call(
        *("tell links", "POST", "/v1/links", _links),
        changes=True,
        largest=LARGEST,
        about=_about_nothing,
    ),
    Call("status", "GET", "/v1/status"),
    Call("leftovers", "GET", "/v1/leftovers"),
    Call(
        *("remove leftovers", "POST", "/v1/leftovers/remove", _names),
        changes=True,
        largest=SMALL,
        about=_about_names,
    ),
    Call("overview", "GET", "/v1/overview"),
)
"""All that have a route of their own and are answered at once."""

ORDERED = frozenset(call.name for call in CALLS if call.ordered)
BY_ROUTE = {(call.method, call.path): call for call in (*CALLS, WAIT)}


def number(asked: Asked, key: str) -> float | None:
    """A number of the query; None: it is not there. Raises `ServiceError`."""
    text = asked.query.get(key)
    if text is None:
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or abs(found) > 1e15:
        raise ServiceError(Failure.INVALID, f"{key} must be a number, not {text[:40]!r}")
    return found


def _limit(asked: Asked, key: str = "limit") -> int | None:
    limit = number(asked, key)
    if limit is None:
        return None
    if limit < 1 or limit != int(limit):
        raise ServiceError(Failure.INVALID, f"{key} must be a positive number", "for example 100")
    return int(limit)
