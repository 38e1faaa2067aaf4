"""Time limits in the forms that Slurm takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.errors import SubmissionError
from metabroker.submission.times import LONGEST, format_time, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1", 60),
        ("90", 5400),
        ("90:30", 5430),
        ("0:05", 5),
        ("1:30:00", 5400),
        ("100:00:01", 360001),
        ("2-12", 216000),
        ("2-12:30", 217800),
        ("2-12:30:15", 217815),
        ("0-0:0:1", 1),
        (" 5 ", 300),
    ],
)
def test_forms(text: str, seconds: int) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "0", "0:00", "0-0", "-5", "+5", "1.5", "5m", "1:60", "1:2:60", "1:60:00", "1-24",
        "1-1:60", "1:2:3:4", "1-2-3", "1-", "-", "1:", ":1", "٣", "1e3", "UNLIMITED", "infinite",
        "99999999999", "4000-00", "1\n2", "$(5)",
    ],
)  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_time(text)


@given(st.integers(1, LONGEST))
def test_a_written_time_reads_back(seconds: int) -> None:
    assert parse_time(format_time(seconds)) == seconds


@given(st.text() | st.text(alphabet="0123456789:- ", max_size=12))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        assert 0 < parse_time(text) <= LONGEST
    except SubmissionError as error:
        assert error.message
        assert error.advice
