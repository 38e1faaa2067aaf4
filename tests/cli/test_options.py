"""Options in scripts: whatever stands there is understood or refused with its file and line."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.cli.options import merged, script_options
from metabroker.submission.errors import SubmissionError

_WORDS = st.sampled_from(
    ["-n", "--cluster", "--on", "--total", "-t", "-J", "--native", "--hold", "--wait", "--export",
     "--stage-in", "-n4", "--time=5", "4", "delft:4", "x", "--", "-", "", "--help", "-h", "--he"]
)  # fmt: skip


@given(st.lists(_WORDS | st.text(max_size=8), max_size=5))
def test_any_directive_is_understood_or_refused(words: list[str]) -> None:
    script = f"#!/bin/sh\n#METABROKER {shlex.join(words)}\n".encode("utf-8", "surrogatepass")
    try:
        options = script_options(script, "job.sh")
    except SubmissionError as error:
        assert error.what.startswith("job.sh:2: ")
        assert error.advice
    else:
        assert "native" in options


def test_later_lines_win_and_native_options_add_up() -> None:
    script = b"#METABROKER -t 5 --native a:-x\n#METABROKER -t 6 --native b:-y --native a:-z\n"
    options = script_options(script, "job.sh")
    assert options["time"] == 360
    assert dict(options["native"]) == {"a": ("-z",), "b": ("-y",)}


@pytest.mark.parametrize("form", ["single", "components", "on", "total"])
def test_one_form_on_the_command_line_takes_the_place_of_all(form: str) -> None:
    script = {"single": 4, "cluster": "delft", "total": 9, "native": ()}
    both = merged({form: "given"}, script)
    forms = {key for key in ("single", "components", "on", "total") if key in both}
    assert forms == {form}
    assert ("cluster" in both) == (form == "single")
