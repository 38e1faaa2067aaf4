"""What a token looks like."""

from __future__ import annotations

import pytest

from metabroker.access import secret


def test_a_new_token_is_read_back_and_matches_its_digest_alone() -> None:
    one, two = secret.new(), secret.new()
    found = secret.parsed(one.text)
    assert found == one
    assert one.matches(one.digest) and not one.matches(two.digest)
    assert one.id in one.text and one.id != two.id
    assert one.text not in one.digest


def test_its_secret_is_not_shown() -> None:
    made = secret.new()
    assert made.text not in repr(made) and made.id in repr(made)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: text + "A",
        lambda text: text + "\n",
        lambda text: " " + text,
        lambda text: text.upper(),
        lambda text: text.replace("mbt_", "mbx_"),
        lambda text: text[:-1] + "é",
        lambda text: text[:-1] + "\0",
    ],
)
def test_anything_else_is_none(change: object) -> None:
    assert callable(change)
    assert secret.parsed(change(secret.new().text)) is None
