"""A submission as JSON: as it crosses the daemon's socket, and as the store keeps it.

There is one description of a job, `Submission`; both forms are made from its fields. `from_wire`
believes nothing: types are checked against that description, and what it returns has passed
`metabroker.submission.checks`.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from metabroker.submission.checks import LARGEST_SCRIPT, MOST_WORDS, check
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Submission
from metabroker.submission.shape import Shape
from metabroker.submission.text import shown

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_ADVICE = "use the `metabroker` command of the daemon's own version"
# Each value that is wrong is an error in memory, and only the first one is told.
_MOST_VALUES = 4 * MOST_WORDS
_OF_CORE = frozenset(
    {"script", "processors", "shape", "time_limit", "hold", "request_id", "dependency"}
) | {"kill_on_invalid_dep", "max_latency", "staged_bytes", "only_at_input", "joins"}


def to_wire(submission: Submission) -> dict[str, Any]:
    """The submission as JSON; what has its default is left out."""
    script = base64.b64encode(submission.script).decode("ascii")
    return {**_shortened(_plain(submission)), "script": script}


def to_spec(submission: Submission) -> dict[str, Any]:
    """What of it only the start of its components needs, as the store keeps it: all but the script
    and what the core knows of the job."""
    kept = {key: value for key, value in _plain(submission).items() if key not in _OF_CORE}
    return {**kept, "name": submission.name or submission.script_name}


def from_wire(wire: object) -> Submission:
    """The submission that `wire` is.

    Raises:
        SubmissionError: it is not a sound one.
    """
    if not isinstance(wire, dict):
        raise SubmissionError("the submission must be an object", _ADVICE)
    script = _script(wire.get("script"))
    if _values(wire) > _MOST_VALUES:
        what = f"the submission has more than {_MOST_VALUES} values"
        raise SubmissionError(what, "give fewer arguments, variables or options")
    try:
        submission = _description().validate_json(json.dumps({**wire, "script": ""}), strict=True)
    except ValueError as error:
        raise _wrong(error) from error
    submission = replace(submission, script=script)
    check(submission)
    return submission


@cache
def _description() -> TypeAdapter[Submission]:
    # Imported where it is needed: the command line only writes submissions, and starts quickly.
    from pydantic import TypeAdapter

    return TypeAdapter(Submission)


def schema() -> dict[str, Any]:
    """What `from_wire` takes, as a JSON schema."""
    return _description().json_schema(ref_template="#/components/schemas/{model}")


def _plain(value: Any) -> Any:
    """As JSON has it; the script is left out."""
    if isinstance(value, Shape):
        return value.given()
    if is_dataclass(value):
        names = (field.name for field in fields(value) if field.name != "script")
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value


def _shortened(plain: Mapping[str, Any]) -> dict[str, Any]:
    short = {**plain, "processors": {k: v for k, v in plain["processors"].items() if v is not None}}
    return {key: value for key, value in short.items() if value not in (None, False, [], {})}


def _values(wire: object) -> int:
    """How many values are in it, and in those, empty lists too."""
    inner = wire.values() if isinstance(wire, dict) else wire if isinstance(wire, list) else ()
    return sum(1 + _values(value) for value in inner)


def _script(wire: object) -> bytes:
    if not isinstance(wire, str):
        raise SubmissionError("'script' of the submission must be text", _ADVICE)
    if len(wire) > 4 * (LARGEST_SCRIPT // 3 + 2):
        what = f"the script has more than {LARGEST_SCRIPT} bytes"
        raise SubmissionError(what, "keep data in separate files")
    try:
        return base64.b64decode(wire, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SubmissionError("'script' of the submission must be base64", _ADVICE) from error


def _wrong(error: ValueError) -> SubmissionError:
    """The first thing that is wrong; nothing of what was written is quoted but a key."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return SubmissionError("the submission has numbers that are too large", _ADVICE)
    first = error.errors(include_url=False, include_input=False)[0]
    key = shown(str(first["loc"][0])) if first["loc"] else "it"
    if first["type"] == "unexpected_keyword_argument":
        return SubmissionError(f"the submission has the unknown key {key}", _ADVICE)
    return SubmissionError(f"{key} of the submission is wrong: {first['msg']}", _ADVICE)
