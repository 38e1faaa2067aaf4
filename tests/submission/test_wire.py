"""Submissions as JSON: round trips, and strictness towards whoever wrote the JSON."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.checks import LARGEST_SCRIPT
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Submission
from metabroker.submission.wire import from_wire, to_wire
from tests.submission.strategies import submissions

LEAST: dict[str, Any] = {
    "script": base64.b64encode(b"#!/bin/sh\necho hello\n").decode(),
    "script_name": "job.sh",
    "processors": {"single": 4},
    "chdir": "/home/u",
}


@given(submissions)
def test_a_submission_survives_the_wire(submission: Submission) -> None:
    text = json.dumps(to_wire(submission))
    assert from_wire(json.loads(text)) == submission


def test_the_least_submission() -> None:
    submission = from_wire(LEAST)
    assert submission.script == b"#!/bin/sh\necho hello\n"
    assert submission.processors.single == 4
    assert to_wire(submission) == LEAST


from_wire(LEAST)  # what checks it is made once, which takes longer than a test's deadline

WRONG: list[tuple[str, Any]] = [
    ("script", None), ("script", 5), ("script", "not base64!"), ("script", "é"), ("script", "QQ"),
    ("script", "A" * (2 * LARGEST_SCRIPT)),
    ("script_name", None), ("script_name", ""), ("script_name", "a\nb"), ("script_name", ["a"]),
    ("processors", None), ("processors", {}), ("processors", 4), ("processors", {"single": 0}),
    ("processors", {"single": -1}), ("processors", {"single": True}),
    ("processors", {"single": 1.0}),
    ("processors", {"single": "4"}), ("processors", {"single": 10**12}),
    ("processors", {"single": 10**400}), ("processors", {"single": 1, "total": 2}),
    ("processors", {"components": []}), ("processors", {"components": [1, 0]}),
    ("processors", {"components": [1] * 2000}), ("processors", {"components": 4}),
    ("processors", {"components": [1, None]}), ("processors", {"on": [["a"]]}),
    ("processors", {"on": [["a", 1, 2]]}), ("processors", {"on": {"a": 1}}),
    ("processors", {"on": [["a b", 1]]}), ("processors", {"on": [["a", "1"]]}),
    ("processors", {"total": 4, "cluster": "a"}), ("processors", {"single": 4, "cluster": "$(x)"}),
    ("processors", {"single": 4, "more": 1}),
    ("shape", None), ("shape", 4), ("shape", {"more": 1}), ("shape", {"cpus_per_task": 0}),
    ("shape", {"cpus_per_task": "4"}), ("shape", {"cpus_per_task": 10**9}),
    ("shape", {"cpus_per_task": 999_999_999}), ("shape", {"memory": -1}),
    ("shape", {"memory": 2**60}), ("shape", {"memory": 1, "memory_per_cpu": 1}),
    ("shape", {"gpus": -1}), ("shape", {"gpus": 1, "gpus_per_task": 1}),
    ("shape", {"exclusive": 1}), ("shape", {"exclusive": None}),
    ("chdir", None), ("chdir", "relative"), ("chdir", "/a\0b"), ("chdir", "/" + "x" * 5000),
    ("args", "text"), ("args", [1]), ("args", ["a\0b"]), ("args", ["x" * 200_000]),
    ("args", ["x"] * 20_000), ("args", ["x" * 100_000] * 11), ("args", ["\ud800"]),
    ("name", ""), ("name", 5), ("name", "x" * 256), ("name", "a\nb"), ("name", "a\x1bb"),
    ("name", "a\u2028b"), ("name", "\ud800"),
    ("time_limit", 0), ("time_limit", -1), ("time_limit", True), ("time_limit", 1e3),
    ("time_limit", 10**10), ("output", "%N"), ("error", ""),
    ("environment", []), ("environment", {"A": 1}), ("environment", {"A B": "x"}),
    ("environment", {"A": "\0"}), ("environment", {"METABROKER_JOB_ID": "1"}),
    ("environment", {f"A{i}": "" for i in range(20_000)}),
    ("native", []), ("native", {"a": "x"}), ("native", {"a b": ["x"]}), ("native", {"a": [1]}),
    ("hold", "yes"), ("hold", 1), ("speaks", "lsf"), ("asked", [{}]), ("asked", ["x"]),
    ("asked", [{"option": "qos", "value": "a\nb"}]), ("asked", [{"option": "x"}] * 300),
    ("request_id", ""), ("request_id", "a b"), ("request_id", "x" * 129),
    ("uid", 0), ("user", "root"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), WRONG, ids=lambda value: str(value)[:30])
def test_what_is_wrong_is_refused(key: str, value: Any) -> None:
    with pytest.raises(SubmissionError) as caught:
        from_wire({**LEAST, key: value})
    assert caught.value.advice
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"args": [1] * 50_000},
        {"args": [[]] * 50_000},
        {"environment": {f"A{i}": 1 for i in range(50_000)}},
        {"native": {f"a{i}": [1] for i in range(50_000)}},
        {f"k{i}": 1 for i in range(50_000)},
    ],
    ids=["args", "lists", "environment", "native", "keys"],
)
def test_too_many_values_are_refused_before_each_is_looked_at(wrong: dict[str, Any]) -> None:
    """What is wrong with each of them would take a thousand times its bytes."""
    with pytest.raises(SubmissionError, match="more than 40000 values"):
        from_wire({**LEAST, **wrong})


@pytest.mark.parametrize("wire", [None, [], "x", 5, True, {}, [LEAST]])
def test_what_is_no_submission_is_refused(wire: Any) -> None:
    with pytest.raises(SubmissionError):
        from_wire(wire)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*LEAST, "args", "native", "hold", "name"]), _JSON))
def test_any_json_is_a_submission_or_refused(changes: dict[str, Any]) -> None:
    try:
        from_wire({**LEAST, **changes})
    except SubmissionError as error:
        assert error.advice
        assert str(error).isprintable()
