"""The flag that writes golden files anew."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/broker --rewrite-golden`, then read what git says has changed."""
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write the answers in tests/broker/golden anew instead of comparing them",
    )
