"""The API with all that guards it (tokens, audit, rates, TLS) before jobs in memory."""

from __future__ import annotations

import http.client
import json
import os
import pwd
import socket
import ssl
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from metabroker.access.audit import AuditLog
from metabroker.access.rates import Rate
from metabroker.access.secret import Scope
from metabroker.api.client import Client
from metabroker.api.middleware import Middleware, RateLimits
from metabroker.api.remote import Remote
from metabroker.api.server import ApiServer, Listen
from metabroker.api.service import TokenRequest
from metabroker.service.access_tokens import AccessTokens
from metabroker.store import Store
from metabroker.submission.model import Caller
from tests.api.fake import FakeService
from tests.daemon.harness import eventually
from tests.security.certificates import Authority

Json = dict[str, Any]


def ordinary() -> Caller:
    """A user whom this host knows, and who is not root: one's own, else nobody."""
    found = pwd.getpwuid(os.geteuid()) if os.geteuid() else pwd.getpwnam("nobody")
    return Caller(found.pw_uid, found.pw_name)


ROOT = Caller(0, "root")


class Front:
    """Served until it is closed. Its clock, for tokens, is turned by hand."""

    def __init__(
        self,
        folder: Path,
        rates: RateLimits | None = None,
        head: float = 15.0,
        connections: int | None = None,
    ) -> None:
        self.folder = folder
        self.ahead = 0.0
        self.jobs = FakeService()
        self.refused: list[str] = []
        self.log = folder / "audit.log"
        self.store = Store(f"sqlite:///{folder}/store.db", migrate=False)
        self.audit = AuditLog(self.log, time.time)
        self.tokens = AccessTokens(
            self.store.access_tokens, self._clock, lambda caller: caller == ROOT
        )
        self.authority = Authority(folder)
        certificate, key = self.authority.sign("localhost")
        self.socket = folder / "mb.sock"
        self.server = ApiServer(
            self.jobs,
            self.socket,
            middleware=Middleware(
                tokens=self.tokens,
                audit=self.audit,
                rates=rates or RateLimits(Rate(1000.0, 10_000), None),
                refused=self.refused.append,
            ),
            listen=Listen("127.0.0.1", 0, certificate, key),
            head=head,
            connections=connections,
        )
        self.server.start()

    def close(self) -> None:
        self.server.stop()
        self.audit.close()
        self.store.close()

    def _clock(self) -> float:
        return time.time() + self.ahead

    @property
    def port(self) -> int:
        assert self.server.port is not None
        return self.server.port

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def token(self, scope: Scope = Scope.SUBMIT, seconds: int = 3600) -> Json:
        """A token of the ordinary user's."""
        return self.tokens.create(ROOT, TokenRequest(scope, seconds, ordinary().user))

    def kept(self, text: str) -> Path:
        """A file that only its owner may read, with a token in it."""
        file = self.folder / "token"
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_text(text + "\n")
        return file

    def client(self, token: str, ca_file: Path | None = None, **given: float) -> Client:
        """The command line's own client, from afar."""
        way = Remote(self.url, self.kept(token), ca_file or self.authority.file)
        return Client(way, **{"timeout": 30.0, "patience": 0.0, **given})

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Json]:
        """Any request over TLS, with any headers."""
        context = ssl.create_default_context(cafile=str(self.authority.file))
        far = http.client.HTTPSConnection("localhost", self.port, timeout=30, context=context)
        try:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            with suppress(BrokenPipeError, ssl.SSLError):
                far.request(method, path, None if body is None else content, headers or {})
            response = far.getresponse()
            return response.status, json.loads(response.read())
        finally:
            far.close()

    def plain(self) -> socket.socket:
        """A connection to the TLS port without TLS."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def lines(self) -> list[Json]:
        """The audit log."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def line(self, **wanted: object) -> Json:
        """The last line that says so much, once it is there."""

        def found() -> list[Json]:
            return [line for line in self.lines() if wanted.items() <= line.items()]

        eventually(lambda: bool(found()), f"a line with {wanted}; there are {self.lines()}")
        return found()[-1]
