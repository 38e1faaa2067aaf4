"""What `--dependency` says."""

from __future__ import annotations

import pytest

from metabroker.submission.dependency import MOST_TERMS, parse_dependency
from metabroker.submission.directives import qsub
from metabroker.submission.errors import SubmissionError


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("afterok:12", "afterok:12"),
        ("afterok:12:13,afterany:14", "afterok:12,afterok:13,afterany:14"),
        ("afterok:12?afternotok:12", "afterok:12?afternotok:12"),
        ("after:12+5:13", "after:12+5,after:13"),
        ("aftercorr:7,singleton", "aftercorr:7,singleton"),
        ("12", "afterany:12"),
        ("afterok:1,afterok:1", "afterok:1"),
    ],
)
def test_what_is_understood(text: str, told: str) -> None:
    found = parse_dependency(text)
    assert str(found) == told
    assert parse_dependency(told) == found


@pytest.mark.parametrize(
    "text",
    ["", "afterok", "afterok:", "afterok:0", "afterok:x", "afterok:1,afterany:2?after:3", "on:2",
     "afterok:1+5", "singleton:3", "afterok:17_x", "expand:1", "afterok:-1", "afterok:1 2",
     f"afterok:{'9' * 19}", "afterok" + "".join(f":{n}" for n in range(1, MOST_TERMS + 2)),
     "afterany" + ":1" * 20_000],
)  # fmt: skip
def test_what_is_not(text: str) -> None:
    with pytest.raises(SubmissionError):
        parse_dependency(text)


def test_in_the_words_of_qsub() -> None:
    line, _ = qsub.of_command_line(["-Wdepend=afterok:1.pbs:2.metabroker,afterany:3,umask=022"])
    options = qsub.translate(line)
    assert options["dependency"] == "afterok:1,afterok:2,afterany:3"
    assert options["kill_on_invalid_dep"]
