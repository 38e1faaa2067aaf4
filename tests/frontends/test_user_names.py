"""The users that `-u` names."""

from __future__ import annotations

import pytest

from metabroker.frontends.records import user_names
from tests.frontends.conftest import Ask
from tests.frontends.stub import StubClient, job


def test_users_are_named_or_numbered() -> None:
    assert user_names("root,0,,anna") == ["root", "root", "anna"]


@pytest.mark.parametrize("text", ["4294967290", "9" * 30, "9" * 5000])
def test_a_number_that_nobody_has_names_nobody(text: str) -> None:
    assert user_names(text) == []


def test_what_only_looks_like_a_number_is_a_name() -> None:
    assert user_names("²") == ["²"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["squeue", "--me", "-h", "-o", "%i"], "1\n"),
        (["sacct", "-nXP", "-o", "jobid"], "1\n"),
        (
            ["sshare", "-U", "-n", "--format", "user,account%4"],
            "      anna chem \n      anna phys \n",
        ),
        (["scancel", "--me"], ""),
    ],
)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_whoever_asks_is_who_the_daemon_says(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str, elsewhere: bool
) -> None:
    if elsewhere:  # a token's user, whoever asks here
        monkeypatch.setenv("METABROKER_URL", "https://cluster")
    else:  # a container has no entry for whoever asks
        monkeypatch.setattr("os.geteuid", lambda: 4294967290)
    daemon = StubClient(job(1), job(2, user="ben"))
    assert ask(daemon, *words) == (0, told, "")
    assert daemon.changed == ([(1, "cancel")] if words[0] == "scancel" else [])


@pytest.mark.parametrize("url", [None, "https://cluster"])
def test_sacct_shows_root_all_jobs(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, url: str | None
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0 if url is None else 4294967290)
    if url is not None:
        monkeypatch.setenv("METABROKER_URL", url)
    daemon = StubClient(job(1), job(2, user="ben"))
    daemon.user = "root"
    assert ask(daemon, "sacct", "-nXP", "-o", "jobid") == (0, "1\n2\n", "")
    daemon.user = "ben"
    if url is not None:
        assert ask(daemon, "sacct", "-nXP", "-o", "jobid") == (0, "2\n", "")
