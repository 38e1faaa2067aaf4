"""How many processors, and where: the lists of contract C2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.errors import SubmissionError
from metabroker.submission.requests import (
    parse_components,
    parse_count,
    parse_memory,
    parse_native,
    parse_on,
)


def test_counts() -> None:
    assert parse_count("16") == 16
    assert parse_count(" 1 ") == 1


def test_memory_is_in_mb_as_sbatch_reads_it() -> None:
    words = ("1000", "4G", "4gb", "1T", "2048K", "1k", "500M")
    assert [parse_memory(word) for word in words] == [1000, 4096, 4096, 1 << 20, 2, 1, 500]
    for wrong in ("0", "-1", "4X", "4 G", "", "1.5G", "9" * 20):
        with pytest.raises(SubmissionError, match="not an amount of memory"):
            parse_memory(wrong)


def test_lists() -> None:
    assert parse_components("16,16,8") == (16, 16, 8)
    assert parse_components("16, 16 ,8") == (16, 16, 8)
    assert parse_on("delft:16,leiden:8") == (("delft", 16), ("leiden", 8))
    assert parse_on("delft:16, delft:8") == (("delft", 16), ("delft", 8))


def test_native_options_are_split_as_a_shell_does_and_run_by_none() -> None:
    assert parse_native("delft:--mem=4G -C 'a b'") == ("delft", ("--mem=4G", "-C", "a b"))
    assert parse_native("delft:--comment=$(id);x") == ("delft", ("--comment=$(id);x",))
    assert parse_native("delft:") == ("delft", ())


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1.5", "1_000", "٣", "1e3", "0x10", "9" * 10])
def test_what_is_no_count(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_count(text)


@pytest.mark.parametrize(
    "text", ["", ",", "16,", ",16", "16,,8", "16,0", "16,-8", "16;8", "1," * 1024 + "1"]
)
def test_what_is_no_list_of_sizes(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_components(text)


@pytest.mark.parametrize(
    "text",
    ["", "delft", "delft:", ":16", "delft:0", "delft:16,", "delft=16", "a b:16", "d:1:2", "-x:1"],
)
def test_what_is_no_list_of_clusters(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_on(text)


@pytest.mark.parametrize("text", ["", "delft", ":--mem=4G", "delft:'open", "a b:-x"])
def test_what_are_no_native_options(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_native(text)


@pytest.mark.parametrize(
    "parser", [parse_count, parse_memory, parse_components, parse_on, parse_native]
)
@given(text=st.text() | st.text(alphabet="ab019,:- '", max_size=12))
def test_any_text_is_understood_or_refused(parser: Callable[[str], Any], text: str) -> None:
    try:
        parser(text)
    except SubmissionError as error:
        assert error.message
        assert error.advice
        assert str(error).isprintable()
