"""`#METABROKER` lines, as sbatch reads its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.directives import Directive, directives
from metabroker.submission.errors import SubmissionError


def words(script: str) -> list[tuple[str, ...]]:
    return [directive.words for directive in directives(script.encode(), "job.sh")]


def test_the_leading_comments_are_read_and_nothing_below() -> None:
    script = (
        "#!/bin/sh\n"
        "#METABROKER -n 4\n"
        "# any comment\n"
        "\n"
        "   #METABROKER --time=10\n"
        "echo hello\n"
        "#METABROKER --hold\n"
    )
    assert directives(script.encode(), "job.sh") == [
        Directive(2, ("-n", "4")),
        Directive(5, ("--time=10",)),
    ]


def test_words_are_split_as_a_shell_does() -> None:
    assert words("#METABROKER -J 'two words' --native delft:\"-C 'a b'\"  # why\n") == [
        ("-J", "two words", "--native", "delft:-C 'a b'")
    ]


@pytest.mark.parametrize("line", ["# METABROKER -n 4", "#METABROKERS -n 4", "#metabroker -n 4"])
def test_other_comments_are_no_directives(line: str) -> None:
    assert words(f"#!/bin/sh\n{line}\n") == []


def test_a_mark_alone_says_nothing() -> None:
    assert words("#METABROKER\n#METABROKER \n") == [(), ()]


def test_line_ends_of_dos_are_no_part_of_a_word() -> None:
    assert words("#!/bin/sh\r\n#METABROKER -n 4\r\n") == [("-n", "4")]


@pytest.mark.parametrize("line", ["#METABROKER -J 'open", "#METABROKER 4", "#METABROKER n=4"])
def test_an_error_names_file_and_line(line: str) -> None:
    with pytest.raises(SubmissionError, match=r"^job\.sh:3: "):
        words(f"#!/bin/sh\n\n{line}\n")


@given(st.binary() | st.text().map(lambda text: f"#METABROKER {text}".encode("utf-8", "replace")))
def test_any_script_has_directives_or_is_refused(script: bytes) -> None:
    try:
        directives(script, "job.sh")
    except SubmissionError as error:
        assert error.message.startswith("job.sh:")
        assert str(error).isprintable()
