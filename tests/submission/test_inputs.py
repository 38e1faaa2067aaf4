"""Files that a job reads: what is said of them, and what becomes of that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.build import submission_of
from metabroker.submission.environment import OURS
from metabroker.submission.errors import SubmissionError
from metabroker.submission.inputs import (
    NOTHING,
    USUAL,
    InputFile,
    Inputs,
    inputs_of,
    parse_input,
    parse_inputs,
)
from metabroker.submission.wire import from_wire, to_spec, to_wire


@pytest.mark.parametrize(
    ("text", "copies", "size"),
    [
        ("delft:/data/x", (("delft", "/data/x"),), USUAL),
        ("delft:/data/x:20G", (("delft", "/data/x"),), 20 * 10**9),
        ("delft:/data/x:1.5m", (("delft", "/data/x"),), 1_500_000),
        ("delft:/data/x:2TB", (("delft", "/data/x"),), 2 * 10**12),
        ("delft:/data/x:17", (("delft", "/data/x"),), 17),
        ("delft:/data/x:0", (("delft", "/data/x"),), 0),
        ("delft:/data/a:b", (("delft", "/data/a:b"),), USUAL),
        ("delft:/data/a:b:5k", (("delft", "/data/a:b"),), 5000),
        ("delft:/a b/c,d:5", (("delft", "/a b/c,d"),), 5),
        ("delft:/x,leiden:/y:7", (("delft", "/x"), ("leiden", "/y")), 7),
    ],
)
def test_what_is_said_of_a_file(text: str, copies: tuple[tuple[str, str], ...], size: int) -> None:
    assert parse_input(text) == InputFile(copies, size)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("/data/x", "in which cluster"),
        ("delft", "in which cluster"),
        ("delft:data/x", "in which cluster"),
        ("delft:", "in which cluster"),
        ("del ft:/x", "no cluster"),
        ("delft:/x\n/y", "control characters"),
        ("delft:/x,delft:/y", "two copies in one cluster"),
        (",".join(f"c{n}:/x" for n in range(17)), "17 copies"),
        (f"delft:/x:{10**19 - 1}", "larger than any file"),
        (f"delft:/x:{10**18}T", "larger than any file"),
        (f"delft:/{'x' * 40000}", "40007 characters"),
    ],
)
def test_what_cannot_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(SubmissionError, match=why):
        parse_input(text)


@given(st.text(max_size=60))
def test_whatever_is_written_is_refused_or_means_the_same_again(text: str) -> None:
    for each in (text, f"delft:/{text}"):
        try:
            found = parse_input(each)
        except SubmissionError:
            continue
        assert parse_input(str(found)) == found


def test_a_job_names_a_bounded_number_of_files() -> None:
    assert len(parse_inputs(["delft:/x:1"] * 100)) == 100
    with pytest.raises(SubmissionError, match="101 times"):
        parse_inputs(["delft:/x:1"] * 101)
    with pytest.raises(SubmissionError, match="characters"):
        parse_inputs([f"delft:/{'x' * 1000}:1"] * 40)
    with pytest.raises(SubmissionError, match="cannot be sent"):
        inputs_of([], -1)


def test_a_script_is_told_of_the_copy_in_its_own_cluster_or_of_the_first() -> None:
    file = parse_input("delft:/data/x,lab:/scratch/x:5")
    assert file.seen_from("lab") == "/scratch/x"
    assert file.seen_from("leiden") == "delft:/data/x"
    assert file.renamed({"delft": "den-haag"}).seen_from("leiden") == "den-haag:/data/x"
    assert "METABROKER_INPUTS" in OURS


def test_what_others_are_told_has_no_paths() -> None:
    inputs = inputs_of(["delft:/secret/x,lab:/y:5", "lab:/z"], 12)
    told = json.loads(json.dumps(inputs.told()))
    assert told["files"][0] == {"size": 5, "clusters": ["delft", "lab"]}
    assert "secret" not in json.dumps(told)
    assert Inputs.read(told) == inputs
    assert NOTHING.told() is None and Inputs.read(None) is NOTHING and not NOTHING
    assert inputs.renamed({"lab": "b"}).files == ((5, ("delft", "b")), (USUAL, ("b",)))


def test_the_files_that_are_sent_are_counted_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(b"x" * 1000)
    (tmp_path / "b").write_bytes(b"x" * 234)
    options = {"single": 1, "stage_in": ("a", "./b"), "input_at": ("delft:/x:5",)}
    made = submission_of(options, b"#!/bin/sh\ntrue\n", "job.sh", ())
    assert made.staged_bytes == 1234
    assert made.inputs == Inputs(1234, ((5, ("delft",)),))
    assert from_wire(json.loads(json.dumps(to_wire(made)))) == made
    spec = to_spec(made)
    assert spec["input_at"] == ["delft:/x:5"] and "staged_bytes" not in spec


@pytest.mark.parametrize(
    "wrong",
    [
        {"input_at": ["delft"]},
        {"input_at": ["delft:/x"] * 101},
        {"staged_bytes": -5},
        {"only_at_input": True},
    ],
)
def test_the_daemon_believes_none_of_it(wrong: dict[str, object]) -> None:
    plain = submission_of({"single": 1}, b"#!/bin/sh\ntrue\n", "job.sh", ())
    with pytest.raises(SubmissionError):
        from_wire({**to_wire(plain), **wrong})
