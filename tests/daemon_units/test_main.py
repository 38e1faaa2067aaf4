"""That `serve` ends the process where its first thread fails."""

from __future__ import annotations

import logging
import os
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from metabroker import openfiles
from metabroker.daemon import main

CONFIG: Any = SimpleNamespace(clusters={})


class Daemon:
    """Something goes wrong: as it `start`s, or as it is `asked` how it is."""

    wrong = "start"
    stopped = False
    summary = "policy GS over delft"
    replaced = False

    def __init__(self, *_given: Any, **_more: Any) -> None:
        Daemon.stopped = False

    def start(self) -> None:
        if Daemon.wrong == "start":
            raise RuntimeError("can't start new thread")

    @property
    def alive(self) -> bool:
        raise RuntimeError("nobody has foreseen this")

    def stop(self) -> None:
        Daemon.stopped = True


class Exited(BaseException):
    """The process is over."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = SimpleNamespace(begin=lambda: None, started=lambda: None, start=lambda _form: None)
    for name in ("logs", "memory"):
        monkeypatch.setattr(main, name, nothing)
    for name in ("reap_former", "trouble_with_root"):
        monkeypatch.setattr(main, name, lambda *_given: None)
    monkeypatch.setattr(openfiles, "raise_limit", lambda: None)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(main, "Signals", lambda **_given: SimpleNamespace(stop=False))
    monkeypatch.setattr(main, "Daemon", Daemon)


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("wrong", ["start", "asked"])
def test_whatever_fails_in_the_first_thread_ends_the_others(
    wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    Daemon.wrong = wrong
    assert main.serve(CONFIG) == 1
    assert Daemon.stopped
    assert "Traceback" in caplog.text


@pytest.mark.usefixtures("served")
def test_what_cannot_end_in_order_ends_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Else a thread that goes on keeps the process."""

    def leave(code: int) -> NoReturn:
        raise Exited(code)

    def stop(_daemon: Daemon) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(logging, "shutdown", lambda: None)
    monkeypatch.setattr(Daemon, "stop", stop)
    Daemon.wrong = "start"
    with pytest.raises(Exited, match="1"):
        main.serve(CONFIG)
    assert "it cannot end in order" in caplog.text
