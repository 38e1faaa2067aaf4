"""`--export`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.environment import DEFAULT, resolve
from metabroker.submission.errors import SubmissionError

HERE = {
    "HOME": "/home/u",
    "EDITOR": "vi",
    "SLURM_JOB_ID": "4",
    "PBS_JOBID": "5",
    "METABROKER_SOCKET": "/s",
    "BASH_FUNC_f%%": "() { :; }",
    "LATIN": "caf\udce9",
}


def test_nothing_travels_by_default() -> None:
    assert resolve(DEFAULT, HERE) == {}


@pytest.mark.parametrize(
    ("export", "expected"),
    [
        ("NONE", {}),
        ("none", {}),
        ("ALL", {"HOME": "/home/u", "EDITOR": "vi"}),
        ("EDITOR", {"EDITOR": "vi"}),
        ("EDITOR,NOT_SET", {"EDITOR": "vi"}),
        ("A=1", {"A": "1"}),
        ("A=", {"A": ""}),
        ("A=b=c", {"A": "b=c"}),
        ("ALL,EDITOR=emacs", {"HOME": "/home/u", "EDITOR": "emacs"}),
        ("A='x,y',B=2", {"A": "x,y", "B": "2"}),
        ("A=$(id);x y", {"A": "$(id);x y"}),
        ("A=C:\\x", {"A": "C:\\x"}),
        ("SLURM_JOB_ID", {"SLURM_JOB_ID": "4"}),
    ],
)
def test_forms(export: str, expected: dict[str, str]) -> None:
    assert resolve(export, HERE) == expected


@pytest.mark.parametrize("export", ["", ",", "NONE,A=1", "A B=1", "1A=x", "A='open", "=x", "A-B"])
def test_what_is_no_list(export: str) -> None:
    with pytest.raises(SubmissionError):
        resolve(export, HERE)


@given(st.text() | st.text(alphabet="AB=,'\"1 ", max_size=10))
def test_any_text_is_understood_or_refused(export: str) -> None:
    try:
        resolve(export, HERE)
    except SubmissionError as error:
        assert str(error).isprintable()
