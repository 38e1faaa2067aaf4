"""A submission as JSON, as it crosses the daemon's socket.

`from_wire` believes nothing: each type and size is checked, and what it returns has passed
`metabroker.submission.checks`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from metabroker.submission.checks import LARGEST_SCRIPT, check
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Processors, Submission
from metabroker.submission.text import shown

_KEYS = frozenset(Submission.__slots__)
_FORMS = frozenset(Processors.__slots__)
_ADVICE = "use the `metabroker` command of the daemon's own version"


def to_wire(submission: Submission) -> dict[str, Any]:
    """The submission as JSON; what has its default is left out."""
    request = submission.processors
    processors = {
        "single": request.single,
        "cluster": request.cluster,
        "components": None if request.components is None else list(request.components),
        "on": None if request.on is None else [list(pair) for pair in request.on],
        "total": request.total,
    }
    wire: dict[str, Any] = {
        "script": base64.b64encode(submission.script).decode("ascii"),
        "script_name": submission.script_name,
        "processors": {key: value for key, value in processors.items() if value is not None},
        "chdir": submission.chdir,
        "args": list(submission.args),
        "name": submission.name,
        "time_limit": submission.time_limit,
        "output": submission.output,
        "error": submission.error,
        "environment": dict(submission.environment),
        "native": {cluster: list(words) for cluster, words in submission.native.items()},
        "hold": submission.hold,
        "request_id": submission.request_id,
        "stage_in": list(submission.stage_in),
        "stage_out": list(submission.stage_out),
        "submit_dir": submission.submit_dir,
    }
    return {
        key: value
        for key, value in wire.items()
        if value is not None and value is not False and value != [] and value != {}
    }


def from_wire(wire: object) -> Submission:
    """The submission that `wire` is. Raises `SubmissionError` where it is not a sound one."""
    data = _object("the submission", wire)
    _known("the submission", data, _KEYS)
    submission = Submission(
        script=_script(data.get("script")),
        script_name=_text(data, "script_name"),
        processors=_processors(data.get("processors")),
        chdir=_text(data, "chdir"),
        args=_words("args", data.get("args", [])),
        name=_optional_text(data, "name"),
        time_limit=_optional_number(data, "time_limit"),
        output=_optional_text(data, "output"),
        error=_optional_text(data, "error"),
        environment=_texts("environment", data.get("environment", {})),
        native=_native(data.get("native", {})),
        hold=_flag(data, "hold"),
        request_id=_optional_text(data, "request_id"),
        stage_in=_words("stage_in", data.get("stage_in", [])),
        stage_out=_words("stage_out", data.get("stage_out", [])),
        submit_dir=_optional_text(data, "submit_dir"),
    )
    check(submission)
    return submission


def _processors(wire: object) -> Processors:
    data = _object("processors", wire)
    _known("processors", data, _FORMS)
    components, on = data.get("components"), data.get("on")
    return Processors(
        single=_optional_number(data, "single"),
        cluster=_optional_text(data, "cluster"),
        components=None if components is None else _numbers("components", components),
        on=None if on is None else tuple(_pair(item) for item in _list("on", on)),
        total=_optional_number(data, "total"),
    )


def _script(wire: object) -> bytes:
    if not isinstance(wire, str):
        raise _wrong("script", "text")
    if len(wire) > 4 * (LARGEST_SCRIPT // 3 + 2):
        what = f"the script has more than {LARGEST_SCRIPT} bytes"
        raise SubmissionError(what, "keep data in files of their own")
    try:
        return base64.b64decode(wire, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _wrong("script", "base64") from error


def _pair(wire: object) -> tuple[str, int]:
    if isinstance(wire, list) and len(wire) == 2:
        name, count = wire
        if isinstance(name, str) and _is_number(count):
            return name, count
    raise _wrong("on", "a list of [cluster, processors]")


def _native(wire: object) -> dict[str, tuple[str, ...]]:
    return {key: _words("native", words) for key, words in _object("native", wire).items()}


def _texts(what: str, wire: object) -> dict[str, str]:
    data = _object(what, wire)
    for value in data.values():
        if not isinstance(value, str):
            raise _wrong(what, "a mapping of texts")
    return dict(data)


def _words(what: str, wire: object) -> tuple[str, ...]:
    words = _list(what, wire)
    if not all(isinstance(word, str) for word in words):
        raise _wrong(what, "a list of texts")
    return tuple(words)


def _numbers(what: str, wire: object) -> tuple[int, ...]:
    numbers = _list(what, wire)
    if not all(_is_number(number) for number in numbers):
        raise _wrong(what, "a list of whole numbers")
    return tuple(numbers)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise _wrong(key, "text")
    return value


def _optional_text(data: Mapping[str, Any], key: str) -> str | None:
    return None if data.get(key) is None else _text(data, key)


def _optional_number(data: Mapping[str, Any], key: str) -> int | None:
    value = data.get(key)
    if value is None:
        return None
    if not _is_number(value):
        raise _wrong(key, "a whole number")
    return int(value)


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise _wrong(key, "true or false")
    return value


def _list(what: str, wire: object) -> list[Any]:
    if not isinstance(wire, list):
        raise _wrong(what, "a list")
    return wire


def _object(what: str, wire: object) -> dict[str, Any]:
    if not isinstance(wire, dict):
        raise _wrong(what, "an object")
    return wire


def _known(what: str, data: Mapping[str, Any], known: frozenset[str]) -> None:
    for key in data:
        if key not in known:
            raise SubmissionError(f"{what} has the unknown key {shown(key)}", _ADVICE)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _wrong(key: str, kind: str) -> SubmissionError:
    return SubmissionError(f"{key!r} of the submission must be {kind}", _ADVICE)
