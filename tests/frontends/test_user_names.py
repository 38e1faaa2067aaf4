"""The users that `-u` names."""

from __future__ import annotations

import pytest

from metabroker.frontends.records import user_names


def test_users_are_named_or_numbered() -> None:
    assert user_names("root,0,,anna") == ["root", "root", "anna"]


@pytest.mark.parametrize("text", ["4294967290", "9" * 30, "9" * 5000])
def test_a_number_that_nobody_has_names_nobody(text: str) -> None:
    assert user_names(text) == []


def test_what_only_looks_like_a_number_is_a_name() -> None:
    assert user_names("²") == ["²"]
