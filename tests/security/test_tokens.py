"""What a token opens, and that anything else over TLS is refused and written down."""

from __future__ import annotations

import os

import pytest

from metabroker.access import secret
from metabroker.access.secret import Scope
from metabroker.api.client import Client, ClientError
from metabroker.api.service import ServiceError, TokenRequest
from metabroker.store.access_tokens import TokenRow
from tests.api.test_routes import WIRE
from tests.security.front import ROOT, Front, ordinary


def test_a_token_submits_as_its_user(front: Front) -> None:
    made = front.token()
    client = front.client(made["token"])
    job = client.submit(WIRE)
    assert job["user"] == ordinary().user
    assert client.get("whoami") == {
        "user": ordinary().user, "uid": ordinary().uid, "token": made["id"],
    }  # fmt: skip
    assert client.change(job["job"], "cancel")["state"] == "CANCELLED"
    line = front.line(action="submit", outcome="done")
    assert (line["user"], line["token"], line["job"]) == (ordinary().user, made["id"], job["job"])
    assert line["from"] == "127.0.0.1"
    assert front.line(action="submit", outcome="asked")["request"] == line["request"]
    assert front.line(action="cancel", outcome="done")["job"] == job["job"]


def test_reading_is_not_written_down(front: Front) -> None:
    client = front.client(front.token(Scope.READ)["token"])
    assert client.get("jobs") == {"jobs": []}
    assert front.lines() == []


@pytest.mark.parametrize("verb", ["cancel", "hold", "release"])
def test_anothers_job_is_refused(front: Front, verb: str) -> None:
    Client(front.socket).submit(WIRE)
    front.jobs._jobs[1].update(uid=54321, user="somebody")
    with pytest.raises(ClientError, match="somebody's") as caught:
        front.client(front.token()["token"]).change(1, verb)
    assert caught.value.status == 403
    line = front.line(action=verb, outcome="refused")
    assert (line["user"], line["job"]) == (ordinary().user, 1)
    assert "forbidden" in front.refused


def test_a_job_that_is_not_there_is_refused(front: Front) -> None:
    client = front.client(front.token()["token"])
    for number in (99, 10**17):
        with pytest.raises(ClientError) as caught:
            client.change(number, "cancel")
        assert caught.value.status == 404
        assert front.line(action="cancel", outcome="refused", job=number)


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/jobs"), ("POST", "/v1/jobs?dry_run=1"), ("POST", "/v1/jobs/1/cancel")],
)
def test_a_token_for_reading_changes_nothing(front: Front, method: str, path: str) -> None:
    made = front.token(Scope.READ)
    status, answer = front.ask(method, path, WIRE, {"Authorization": f"Bearer {made['token']}"})
    assert (status, answer["advice"]) == (403, "use a token made with --scope submit")
    line = front.line(outcome="refused", token=made["id"])
    assert "reading only" in line["reason"] and line["action"] != "read"
    assert front.jobs.submissions == {}


def test_an_expired_token_is_refused(front: Front) -> None:
    made = front.token(seconds=60)
    assert front.client(made["token"]).get("jobs") == {"jobs": []}
    front.ahead = 61.0
    with pytest.raises(ClientError, match="expired") as caught:
        front.client(made["token"]).submit(WIRE)
    assert caught.value.status == 401
    assert "expired" in front.line(action="submit", outcome="refused")["reason"]


def test_a_revoked_token_is_refused_at_once_and_after_a_restart(front: Front) -> None:
    made = front.token()
    client = front.client(made["token"])
    assert client.get("jobs") == {"jobs": []}
    front.tokens.revoke(ordinary(), made["id"])
    with pytest.raises(ClientError, match="was revoked") as caught:
        client.submit(WIRE)
    assert caught.value.status == 401
    assert "revoked" in front.line(action="submit", outcome="refused")["reason"]
    again = type(front.tokens)(front.store.access_tokens, front._clock, lambda _: False)
    with pytest.raises(ServiceError, match="was revoked"):
        again.check(made["token"])


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer root",
        "Basic cm9vdDpyb290",
        "Bearer mbt_0123456789_" + "A" * 43,
        "Bearer " + "A" * 4000,
        "Bearer mbt_' OR 1=1 --_" + "A" * 43,
    ],
)
def test_garbage_is_refused(front: Front, header: str | None) -> None:
    front.token()
    headers = {} if header is None else {"Authorization": header}
    headers |= {"X-Remote-User": "root", "X-Forwarded-User": "root", "X-User": "root"}
    status, answer = front.ask("POST", "/v1/jobs", WIRE, headers)
    assert status == 401 and "token" in answer["error"]
    line = front.line(action="submit", outcome="refused")
    assert (line["user"], line["uid"], line["from"]) == (None, None, "127.0.0.1")
    assert "AAAA" not in front.log.read_text()
    assert front.jobs.submissions == {}


def test_the_right_id_with_another_secret_is_refused(front: Front) -> None:
    made, other = front.token(), front.token()
    mixed = f"mbt_{made['id']}_{other['token'].split('_', 2)[2]}"
    status, answer = front.ask("GET", "/v1/jobs", None, {"Authorization": f"Bearer {mixed}"})
    # Not told that the id is right.
    assert (status, answer["error"]) == (401, "the token is not known here")
    assert front.line(action="read", outcome="refused")


def test_wrong_tokens_are_slowed_down_and_right_ones_are_not(front: Front) -> None:
    made = front.token()
    answers: list[int] = []
    while 429 not in answers:
        wrong = {"Authorization": f"Bearer {secret.new().text}"}
        status, answer = front.ask("GET", "/v1/jobs", None, wrong)
        answers.append(status)
        assert len(answers) < 200
    assert answers[:20] == [401] * 20
    assert "try again in" in answer["advice"]
    # Whoever else asks from the same host does not wait for that.
    assert front.client(made["token"]).get("jobs") == {"jobs": []}
    assert any("wrong tokens" in line.get("reason", "") for line in front.lines())


def test_a_user_whom_the_host_does_not_know_any_more_is_refused(front: Front) -> None:
    made = secret.new()
    row = TokenRow(made.id, "no-such-user", "", Scope.SUBMIT, made.digest, 0.0, "root", 9e9)
    front.tokens._known[made.id] = row
    with pytest.raises(ClientError, match="is not known") as caught:
        front.client(made.text).submit(WIRE)
    assert caught.value.status == 401
    assert front.line(action="submit", outcome="refused")


def test_root_does_not_come_by_a_token(front: Front) -> None:
    with pytest.raises(ServiceError, match="root may not have tokens"):
        front.tokens.create(ROOT, TokenRequest(Scope.READ, 60))
    made = secret.new()
    row = TokenRow(made.id, "root", "", Scope.SUBMIT, made.digest, 0.0, "root", 9e9)
    front.tokens._known[made.id] = row
    with pytest.raises(ClientError, match="belongs to root") as caught:
        front.client(made.text).get("jobs")
    assert caught.value.status == 401


def test_tokens_are_not_handled_by_a_token(front: Front) -> None:
    made = front.token()
    good = {"Authorization": f"Bearer {made['token']}"}
    wish = {"scope": "submit", "seconds": 60}
    for method, path, body in (
        ("POST", "/v1/tokens", wish),
        ("GET", "/v1/tokens", None),
        ("POST", f"/v1/tokens/{made['id']}/revoke", {}),
    ):
        status, answer = front.ask(method, path, body, good)
        assert status == 403 and "use its socket" in answer["advice"]
    assert front.line(action="token create", outcome="refused")
    assert front.line(action="token revoke", outcome="refused")


def test_no_secret_is_kept_anywhere(front: Front) -> None:
    made = Client(front.socket).create_token(
        {"scope": "submit", "seconds": 60, "user": ordinary().user}
    )
    front.client(made["token"]).submit({**WIRE, "environment": {"PASSWORD": "hunter2"}})
    with pytest.raises(ClientError):
        front.client(made["token"]).submit({**WIRE, "environment": {"PASSWORD": "hunter2\ud800"}})
    assert front.line(action="token create", outcome="done", id=made["id"], scope="submit")
    written = b"".join(
        file.read_bytes() for file in front.folder.iterdir()
        if file.name.startswith(("audit", "store"))
    )  # fmt: skip
    assert made["id"].encode() in written
    for hidden in (made["token"], made["token"].split("_", 2)[2], "hunter2", "echo hello"):
        assert hidden.encode() not in written


@pytest.mark.skipif(os.geteuid() != 0, reason="asks as root and as another user")
def test_users_handle_their_own_tokens_alone(front: Front) -> None:
    from tests.api.test_identity import as_other

    me = ordinary()
    wish = {"scope": "read", "seconds": 60}
    status, mine = as_other(me.uid, front.socket, "POST", "/v1/tokens", wish)
    assert (status, mine["user"]) == (200, me.user)
    status, answer = as_other(me.uid, front.socket, "POST", "/v1/tokens", {**wish, "user": "bin"})
    assert status == 403 and "for themselves" in answer["advice"]
    assert front.line(action="token create", outcome="refused", user=me.user)
    other = front.tokens.create(ROOT, TokenRequest(Scope.READ, 60, "bin"))
    status, _ = as_other(me.uid, front.socket, "POST", f"/v1/tokens/{other['id']}/revoke", {})
    assert status == 404
    assert front.line(action="token revoke", outcome="refused", user=me.user)
    assert as_other(me.uid, front.socket, "GET", "/v1/tokens?all=1")[0] == 403
    status, listed = as_other(me.uid, front.socket, "GET", "/v1/tokens")
    assert [token["id"] for token in listed["tokens"]] == [mine["id"]]
    assert as_other(me.uid, front.socket, "POST", f"/v1/tokens/{mine['id']}/revoke", {})[0] == 200
