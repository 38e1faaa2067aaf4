"""Front ends in this process, before a daemon in memory."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from metabroker.errors import AdvisedError
from tests.frontends.stub import StubClient

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs `NAME WORDS...` against a stub; its exit code, its output, and what is wrong."""
    monkeypatch.setenv("TZ", "UTC")

    def ask(stub: StubClient, name: str, *words: str) -> tuple[int, str, str]:
        module: Any = import_module(f"metabroker.frontends.{name}")
        monkeypatch.setattr(module, "client", lambda: stub)
        try:
            code = module.run(list(words))
        except AdvisedError as error:
            return 1, capsys.readouterr().out, error.message
        told = capsys.readouterr()
        return code, told.out, told.err

    return ask
