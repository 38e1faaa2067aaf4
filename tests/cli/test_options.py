"""Options in scripts: whatever stands there is understood or refused with its file and line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.cli.options import build, script_options
from metabroker.submission.build import merged
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Processors
from metabroker.submission.shape import Shape

_WORDS = st.sampled_from(
    ["-n", "--cluster", "--on", "--total", "-t", "-J", "--native", "--hold", "--wait", "--export",
     "--stage-in", "--stage-out=*", "-n4", "--time=5", "4", "delft:4", "x", "--", "-", "", "--help",
     "-h", "--he", "-c2", "--mem=4G", "--mem-per-cpu=1", "--gpus=0", "--exclusive"]
)  # fmt: skip


@given(st.lists(_WORDS | st.text(max_size=8), max_size=5))
def test_any_directive_is_understood_or_refused(words: list[str]) -> None:
    script = f"#!/bin/sh\n#METABROKER {shlex.join(words)}\n".encode("utf-8", "surrogatepass")
    try:
        options = script_options(script, "job.sh")
    except SubmissionError as error:
        assert error.message.startswith("job.sh:2: ")
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


def test_what_each_task_needs_as_sbatch_has_it() -> None:
    script = b"#METABROKER --ntasks=2 -c 8 --mem=4G --gpus-per-task 1 --exclusive\n"
    options = script_options(b"#!/bin/sh\n" + script, "job.sh")
    submission = build(merged({}, options), b"#!/bin/sh\n" + script, "job.sh", ())
    assert submission.processors == Processors(single=2)
    assert submission.shape == Shape(8, memory=4096, gpus_per_task=1, exclusive=True)
    other = {"memory_per_cpu": 500, "gpus": 2, "native": ()}
    both = build(merged(other, options), b"#!/bin/sh\n", "job.sh", ())
    assert both.shape == Shape(8, memory_per_cpu=500, gpus=2, exclusive=True)


def test_files_of_the_script_and_of_the_command_line_add_up() -> None:
    script = b"#METABROKER --stage-in a --stage-out 'x/*'\n#METABROKER --stage-in b --stage-in a\n"
    options = script_options(script, "job.sh")
    assert (options["stage_in"], options["stage_out"]) == (("a", "b", "a"), ("x/*",))
    both = merged({"stage_in": ("c", "b"), "native": ()}, options)
    assert (both["stage_in"], both["stage_out"]) == (("a", "b", "c"), ("x/*",))


def test_files_are_sent_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real" / "data").mkdir(parents=True)
    (tmp_path / "real" / "data" / "in").write_text("x")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "link")
    given = {"single": 1, "native": {}, "stage_in": ("./data/in",), "chdir": "/elsewhere"}
    made = build(given, b"#!/bin/sh\ntrue\n", "job.sh", ())
    assert (made.stage_in, made.submit_dir) == (("data/in",), str(tmp_path / "real"))
    assert made.chdir == "/elsewhere"
    with pytest.raises(SubmissionError, match="cannot be sent: it is not there"):
        build({**given, "stage_in": ("data/none",)}, b"#!/bin/sh\ntrue\n", "job.sh", ())
    with pytest.raises(SubmissionError, match="not a regular file"):
        build({**given, "stage_in": ("data",)}, b"#!/bin/sh\ntrue\n", "job.sh", ())
    assert build({"single": 1, "native": {}}, b"#!/bin/sh\ntrue\n", "x", ()).submit_dir is None
