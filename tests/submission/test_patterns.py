"""Names of output files."""

from __future__ import annotations

import pytest

from metabroker.submission.errors import SubmissionError
from metabroker.submission.patterns import check_pattern, expand, names_component


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("out", "out"),
        ("out.%j", "out.17"),
        ("%j.%c.out", "17.2.out"),
        ("100%%", "100%"),
        ("%%j", "%j"),
        ("/x/%j/%j", "/x/17/17"),
        ("$(id);'", "$(id);'"),
        ("%x-%u_%A_%a.%s%n%t", "it's-anna_17_4294967294.batch00"),
        ("%5j.%2c.%J", "00017.02.17"),
    ],
)
def test_expand(pattern: str, path: str) -> None:
    check_pattern("-o", pattern)
    assert expand(pattern, 17, 2, "it's", "anna") == path


@pytest.mark.parametrize(
    "pattern", ["", "%", "out%", "%N", "%5x", "%j%", "a\nb", "a\0b", "x" * 5000, "%é"]
)
def test_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(SubmissionError):
        check_pattern("-o", pattern)


def test_whether_each_component_has_its_own() -> None:
    assert names_component("%j.%c")
    assert not names_component("%j.%%c")
