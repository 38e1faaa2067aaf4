"""Tokens: only the broker's own things are ever taken for its own."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker import tokens
from metabroker.broker.tokens import Ref

INSTANCES = st.text("0123456789abcdef", min_size=6, max_size=16)
REFS = st.builds(
    Ref,
    st.integers(1, 10**17),
    st.integers(1, 10**8),
    st.integers(0, 999_999),
    st.just(0) | st.integers(1, 10**17),
)


@given(INSTANCES, REFS)
def test_a_token_names_its_component(instance: str, ref: Ref) -> None:
    assert tokens.parse(instance, tokens.make(instance, ref)) == ref


@given(INSTANCES, REFS)
def test_a_token_is_safe_as_a_name_in_any_cluster(instance: str, ref: Ref) -> None:
    assert set(tokens.make(instance, ref)) <= set(string.ascii_letters + string.digits + "-")


@given(INSTANCES, INSTANCES, REFS)
def test_another_brokers_token_is_not_ours(mine: str, other: str, ref: Ref) -> None:
    assert tokens.parse(mine, tokens.make(other, ref)) == (ref if mine == other else None)


@given(INSTANCES, REFS, st.integers(0, 10**17))
def test_what_another_term_has_begun_has_another_name(instance: str, ref: Ref, term: int) -> None:
    other = ref._replace(term=term)
    same = tokens.term_of(term) == tokens.term_of(ref.term)
    assert (tokens.make(instance, other) == tokens.make(instance, ref)) == (term == ref.term)
    assert (tokens.kept(other) == tokens.kept(ref)) == same


ALMOST = st.from_regex(r"\s?x?mb-(abcdef01|ABCDEF01)(-\d{1,3}){2,5}[-\s]?", fullmatch=True)


@given(st.text(max_size=40) | ALMOST)
def test_any_other_text_is_no_token(text: str) -> None:
    ref = tokens.parse("abcdef01", text)
    assert ref is None or tokens.make("abcdef01", ref) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mb-abcdef01-1-1",
        "mb-abcdef01-0-1-0",
        "mb-abcdef01-01-1-0",
        "mb-abcdef01-1-1-0 ",
        "mb-abcdef01-1-1-0\n",
        " mb-abcdef01-1-1-0",
        "xmb-abcdef01-1-1-0",
        "mb-abcdef01-1-1--1",
        "mb-ABCDEF01-1-1-0",
        "mb-abcdef01-1-1-0-0",
        "mb-abcdef01-1-1-0-01",
        "mb-abcdef01-1-1-0-",
        "mb-abcdef01-1-1-0-1-1",
    ],
)
def test_almost_a_token(text: str) -> None:
    assert tokens.parse("abcdef01", text) is None


def test_a_number_tells_its_term_and_who_has_the_key() -> None:
    for term in (0, 7, 1_795_236_222):
        number = tokens.number("key", 17, 2, term)
        ref = Ref(17, 2, 0, number)
        assert tokens.term_of(number) == term
        assert tokens.parse("abcdef01", tokens.make("abcdef01", ref)) == ref, "it fits into a name"
        assert tokens.proven("key", ref) and tokens.proven("", ref)
        assert not tokens.proven("other", ref)
        for other in (ref._replace(job=18), ref._replace(attempt=3), ref._replace(term=term)):
            assert not tokens.proven("key", other)
    assert tokens.term_of(5) == 5, "of before there were proofs"
