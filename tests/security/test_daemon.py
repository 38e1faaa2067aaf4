"""A whole daemon, asked from afar by the real command line."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.client import Client, ClientError
from metabroker.api.remote import Remote
from metabroker.submission.model import Processors, Submission
from metabroker.submission.wire import to_wire
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually
from tests.daemon.kinds import Simulated
from tests.security.certificates import Authority
from tests.security.front import ordinary

Json = dict[str, Any]
# Whatever reads this as shell code leaves a file behind.
EVIL = "$(touch {0}) `touch {0}`; touch {0} | touch {0} & 'x\" \\ {{a,b}} * ~ > {0} < /etc/passwd #"


class Far:
    """A site with a daemon that listens, and a login node elsewhere with its user's token."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.authority = Authority(site.folder)
        certificate, key = self.authority.sign("localhost")
        meet = site.folder / "meet"
        meet.mkdir()
        named = site.kind.configuration(site.folder)
        site.configure(
            {
                "listen": {
                    "address": "localhost:0",
                    "certificate": str(certificate),
                    "key": str(key),
                },
                "submitters": [ordinary().user],
                "submitters_share_everything": True,
                "clusters": {name: {"shared_dir": str(meet)} for name in named},
            }
        )
        self.urls: list[str] = []
        self.start()
        site.look_at_clusters()
        self.audit = site.folder / "audit.log"
        done = site.cli("token", "create", "--scope=submit", "--user", ordinary().user, "--json")
        assert done.returncode == 0, done.stderr
        self.made: Json = json.loads(done.stdout)
        self.file = site.folder / "token"
        self.file.touch(mode=0o600)
        self.file.write_text(self.made["token"])

    def start(self) -> None:
        """Start the daemon, and wait until it has told its address, which is another each time."""
        self.site.start()

        def told() -> list[str]:
            found = re.findall(r" and (https://localhost:\d+): policy", self.site.log.read_text())
            return found if len(found) > len(self.urls) else []

        self.urls = eventually(told, "the daemon tells its address")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "METABROKER_URL": self.urls[-1],
            "METABROKER_TOKEN_FILE": str(self.file),
            "METABROKER_CA_FILE": str(self.authority.file),
        }

    def cli(self, *words: str) -> tuple[int, str, str]:
        done = self.site.cli(*words, environment=self.environment)
        return done.returncode, done.stdout, done.stderr

    def client(self) -> Client:
        url = self.environment["METABROKER_URL"]
        return Client(Remote(url, self.file, self.authority.file), patience=0.0)

    def lines(self, **wanted: object) -> list[Json]:
        every = [json.loads(line) for line in self.audit.read_text().splitlines()]
        return [line for line in every if wanted.items() <= line.items()]


@pytest.fixture
def far(make_site: MakeSite) -> Far:
    return Far(make_site(Simulated()))


def test_a_user_elsewhere_submits_waits_and_cancels_until_the_token_is_revoked(far: Far) -> None:
    script = far.site.folder / "job.sh"
    script.write_text("#!/bin/sh\necho from afar\nexit 3\n")
    code, out, err = far.cli("submit", "--wait", "--components=4,4", str(script))
    assert code == 3 and "its script ended with exit code 3" in err
    number = int(out)
    assert far.site.job(number)["user"] == ordinary().user
    # The first that fails ends the other, which may not have written anything yet.
    outputs = [far.site.work / f"metabroker-{number}.{part}.out" for part in range(2)]

    def told() -> bool:
        return "from afar\n" in [path.read_text() for path in outputs if path.exists()]

    eventually(told, "its output")
    code, out, _ = far.cli("queue", "--me", "--json")
    assert (code, json.loads(out)) == (0, {"jobs": []})
    submitted = far.lines(action="submit", outcome="done")
    assert [(line["job"], line["token"]) for line in submitted] == [(number, far.made["id"])]
    # The daemon is killed, and its tokens are still there.
    far.site.kill()
    far.start()
    code, out, _ = far.cli("show", str(number), "--json")
    assert (code, json.loads(out)["state"]) == (0, "FAILED")
    # logrotate moves the log away, and says so.
    far.audit.rename(far.site.folder / "audit.log.1")
    far.site.signal(signal.SIGHUP)
    eventually(far.audit.exists, "a new audit log")
    assert far.site.cli("token", "revoke", far.made["id"]).returncode == 0
    code, _, err = far.cli("submit", "-n1", str(script))
    assert code == 1 and "was revoked" in err
    assert far.lines(action="token revoke", outcome="done", id=far.made["id"])
    assert far.lines(action="submit", outcome="refused", user=None)
    far.site.kill()
    far.start()
    assert "was revoked" in far.cli("queue")[2]
    listed = json.loads(far.site.cli("token", "list", "--all", "--json").stdout)["tokens"]
    assert [(token["id"], token["last_used"] is None) for token in listed] == [
        (far.made["id"], False)
    ]
    assert listed[0]["revoked"] is not None and "token" not in listed[0]
    for secret in (far.made["token"], "from afar"):
        for log in (far.audit, far.site.folder / "audit.log.1", far.site.log):
            assert secret not in log.read_text()


def test_what_a_shell_would_act_on_is_data_or_refused(far: Far) -> None:
    """Every field of a submission in turn, from afar; then all that may hold anything at once."""
    canary = far.site.folder / "canary"
    evil = EVIL.format(canary)
    folder = far.site.work / evil.replace("/", "_")[:200]
    folder.mkdir()
    tell = far.site.folder / "tell.py"
    tell.write_text(
        "import json, os, sys\njson.dump([sys.argv[1:], os.environ['EVIL']], sys.stdout)"
    )
    script = f'#!/bin/sh\n{shlex.quote(sys.executable)} {shlex.quote(str(tell))} "$@"\n'
    plain: Json = to_wire(
        Submission(script.encode(), "job.sh", Processors(single=1), str(far.site.work))
    )
    client = far.client()
    for field, value in {
        "processors": {"single": 1, "cluster": evil},
        "request_id": evil,
        "time_limit": evil,
        "hold": evil,
        "native": {evil: ["x"]},
        "environment": {evil: "x"},
        "chdir": evil,
        "stage_in": ["../../../etc/passwd"],
        "stage_out": ["/etc/cron.d/evil"],
        evil: evil,
    }.items():
        with pytest.raises(ClientError) as caught:
            client.submit({**plain, field: value})
        assert caught.value.status == 400, field
    with pytest.raises(ClientError) as caught:
        client.submit({**plain, "processors": {"on": [[evil, 1]]}})
    with pytest.raises(ClientError) as caught:
        client.submit({**plain, "native": {"delft": [evil]}})
    refused = far.lines(action="submit", outcome="refused", user=ordinary().user)
    assert len(refused) == 12
    assert "touch" not in far.audit.read_text()
    # Nor are files of the daemon's host anybody's who is elsewhere.
    with pytest.raises(ClientError, match="files on another host") as caught:
        client.submit({**plain, "stage_in": ["token"], "submit_dir": str(far.site.folder)})
    assert caught.value.status == 403
    job = client.submit(
        {
            **plain,
            "script_name": evil,
            "name": evil,
            "args": [evil, "", "-n", "two\nlines"],
            "chdir": str(folder),
            "output": "out",
            "error": f"{evil[:40]}%c".replace("/", "_"),
            "environment": {"EVIL": evil},
        }
    )
    state = far.site.wait_end(job["job"])
    assert state["state"] == "COMPLETED", state
    found = eventually(lambda: (folder / "out").read_text(), "its output")
    assert json.loads(found) == [[evil, "", "-n", "two\nlines"], evil]
    assert not canary.exists()
    assert not list(Path("/").glob("canary*"))


def test_a_daemon_without_its_key_does_not_serve(make_site: MakeSite) -> None:
    site = make_site(Simulated())
    authority = Authority(site.folder)
    certificate, key = authority.sign("localhost")
    key.chmod(0o644)
    files = {"certificate": str(certificate), "key": str(key)}
    site.configure({"listen": {"address": "localhost:0", **files}})
    site.start(wait=False)
    assert site.died() == 1
    last = site.log.read_text().splitlines()[-1]
    assert "server.key may be read or changed by others (mode 0644); chmod 600" in last
