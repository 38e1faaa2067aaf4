"""`metabroker token`, and the options for a daemon elsewhere."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.security.front import Front, ordinary

# Root makes tokens for others; any other user for himself.
MINE = ["--user", ordinary().user] if os.geteuid() == 0 else []


def test_a_token_is_printed_once_and_listed_without_its_secret(run: Run, front: Front) -> None:
    done = run("token", "create", "--name", "login node", "--expires", "12h", *MINE)
    token = done.stdout.strip()
    assert done.returncode == 0 and re.fullmatch(r"mbt_[0-9a-f]{10}_[A-Za-z0-9_-]{43}", token)
    assert "install -D -m 600" in done.stderr and "allows read until" in done.stderr
    assert token not in done.stderr
    id = token.split("_")[1]
    lines = run("token", "list", *MINE).stdout.splitlines()
    assert lines[0].split() == ["ID", "USER", "SCOPE", "STATE", "EXPIRES", "USED", "NAME"]
    assert lines[1].split()[:4] == [id, ordinary().user, "read", "good"]
    assert lines[1].endswith("never  login node")
    assert token not in lines[1]
    (listed,) = json.loads(run("token", "list", "--json", *MINE).stdout)["tokens"]
    assert listed["expires"] - listed["created"] == 12 * 3600
    # By its id or by the whole of it; twice does no harm; a wrong one is told.
    for given in (id, token):
        assert run("token", "revoke", given).stdout == f"{id} revoked\n"
    assert "revoked" in run("token", "list", *MINE).stdout
    done = run("token", "revoke", "0123456789")
    assert done.returncode == 1 and "has no token" in done.stderr


def test_json_has_the_token(run: Run, front: Front) -> None:
    done = run("token", "create", "--json", "--scope", "submit", *MINE)
    made = json.loads(done.stdout)
    assert (made["scope"], made["user"], done.stderr) == ("submit", ordinary().user, "")
    assert front.tokens.check(made["token"]).caller.user == ordinary().user


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--expires", "soon"], "not a duration"),
        (["--expires", "0"], "must be more than 0"),
        (["--expires", "5y"], "not a duration"),
        (["--scope", "admin"], "read"),
    ],
)
def test_wrong_usage(run: Run, front: Front, words: list[str], told: str) -> None:
    done = run("token", "create", *words)
    assert (done.returncode, done.stdout) == (2, "") and told in done.stderr


def test_what_cannot_be_had(run: Run, front: Front) -> None:
    done = run("token", "create", "--expires", "367d", *MINE)
    assert done.returncode == 1 and "at most 366 days" in done.stderr
    done = run("token", "create", "--user", "no-such-user")
    assert done.returncode == 1
    assert "no user" in done.stderr or "for themselves only" in done.stderr
    done = run("token", "create", "--name", "a\nb", *MINE)
    assert done.returncode == 1 and "control characters" in done.stderr


def test_commands_from_elsewhere(run: Run, front: Front, script: Path) -> None:
    token = front.kept(front.token()["token"])
    far = {
        "METABROKER_TOKEN_FILE": str(token),
        "METABROKER_CA_FILE": str(front.authority.file),
        "METABROKER_URL": front.url,
    }
    assert run("submit", "-n4", "job.sh", env=far).stdout == "1\n"
    assert json.loads(run("queue", "--me", "--json", env=far).stdout)["jobs"][0]["job"] == 1
    assert "?:4" in run("queue", env=far).stdout
    # By options, and from the usual place.
    usual = front.folder / ".config" / "metabroker" / "token"
    usual.parent.mkdir(parents=True)
    token.rename(usual)
    options = ["--server", front.url, "--ca-file", str(front.authority.file)]
    assert run("cancel", "1", *options).stdout == "1 CANCELLED\n"
    done = run("queue", "--server", front.url)
    assert done.returncode == 1 and "cannot be trusted" in done.stderr
    done = run("queue", *options, "--socket", str(front.socket))
    assert done.returncode == 2 and "cannot go together" in done.stderr
    usual.chmod(0o644)
    done = run("queue", *options)
    assert done.returncode == 1 and "may be read by others" in done.stderr
    usual.unlink()
    done = run("queue", *options)
    assert done.returncode == 1 and "metabroker token create" in done.stderr
