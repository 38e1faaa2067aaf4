"""How many tokens are kept."""

from __future__ import annotations

import pwd

from metabroker.access.secret import Scope
from metabroker.api.service import TokenRequest
from metabroker.service.access_tokens import AccessTokens
from metabroker.submission.model import Caller
from tests.daemon_units.making import Failing

NOBODY = Caller(65534, pwd.getpwuid(65534).pw_name)


def test_of_tokens_that_are_over_the_last_hundred_of_a_user_are_kept(
    store: Failing,
) -> None:
    now = 1.8e9
    tokens = AccessTokens(store.access_tokens, lambda: now, lambda _caller: False)
    kept = tokens.create(NOBODY, TokenRequest(Scope.READ, 86400))
    for _ in range(110):
        made = tokens.create(NOBODY, TokenRequest(Scope.READ, 1))
        now += 2.0
    for _ in range(5):
        made = tokens.create(NOBODY, TokenRequest(Scope.READ, 3600))
        now += 1.0
        tokens.revoke(NOBODY, made["id"])
    tokens.create(NOBODY, TokenRequest(Scope.READ, 3600))
    listed = [row["id"] for row in tokens.listed(NOBODY, user=None, all_users=False)]
    assert len(listed) == 102, "a hundred of them, and the two that are good"
    assert kept["id"] in listed and made["id"] in listed, "the oldest ends are forgotten first"
    assert sorted(row.id for row in store.access_tokens.all()) == sorted(listed)
