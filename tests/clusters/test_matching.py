"""Which files a pattern of results names."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.clusters.matching import Patterns, pieces_of

NAMES = st.lists(st.text("ab.*?[]", min_size=1, max_size=4), min_size=1, max_size=5)


def matches(path: str, patterns: Sequence[str]) -> bool:
    return Patterns(patterns).match(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("result", "result"),
        ("out", "out/deep/file"),  # a folder: all in it
        ("*.nc", "a.nc"),
        ("out/*", "out/a"),
        ("out/*", "out/sub/a"),  # it names the folder `sub`
        ("**/*.nc", "a.nc"),
        ("**/*.nc", "x/y/a.nc"),
        ("**", "x/y/a"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("run?.log", "run1.log"),
        ("run[12].log", "run2.log"),
        (".hidden", ".hidden"),
        ("slash/", "slash/file"),
    ],
)
def test_it_matches(pattern: str, path: str) -> None:
    assert matches(path, (pattern,))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("result", "results"),
        ("*.nc", "x/a.nc"),
        ("out/*", "out"),
        ("*", ".hidden"),
        ("a/**/b", "a/x/c"),
        ("RESULT", "result"),
        ("run[12].log", "run3.log"),
    ],
)
def test_it_does_not_match(pattern: str, path: str) -> None:
    assert not matches(path, (pattern,))


def test_one_of_several_is_enough() -> None:
    assert matches("b", ("a", "b"))
    assert not matches("c", ())


@given(NAMES)
def test_any_path_matches_two_stars(parts: list[str]) -> None:
    assert matches("/".join(parts), ("**",))


@given(NAMES, NAMES)
def test_any_pattern_is_answered(parts: list[str], pattern: list[str]) -> None:
    assert matches("/".join(parts), ("/".join(pattern),)) in (True, False)


def test_a_pattern_of_many_stars_takes_no_time_to_speak_of() -> None:
    began = time.process_time()
    assert not matches("/".join("a" * 200), ("/".join(["**", "a"] * 60) + "/b",))
    assert time.process_time() - began < 60  # a search back and forth would not end at all


def test_patterns_that_say_nothing_more_are_taken_once() -> None:
    assert pieces_of("**/" * 1300 + "x") == ["**", "x"]
    it = Patterns([f"{'**/' * 1300}{number % 10}" for number in range(1000)])
    assert it.match("a/b/3") and not it.match("a/b/c")
    assert len(it._pieces) == 10


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=6))
def test_what_was_learned_of_a_folder_does_not_change_the_answer(
    patterns: list[list[str]], paths: list[list[str]]
) -> None:
    words = ["/".join(pattern) for pattern in patterns]
    together = Patterns(words)
    for names in paths:
        path = "/".join(names)
        assert together.match(path) == any(matches(path, (word,)) for word in words)
