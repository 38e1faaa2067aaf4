"""What a token's holder may not, though its user may; and how large a script may be."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.api.service import Failure, ServiceError
from metabroker.service.authorization import Authorization
from metabroker.submission.model import Caller
from tests.daemon_units.making import ANNA, submission

RULES = Authorization(
    policy="GS",
    default_time=600,
    max_time=None,
    admins=("anna",),
    submitters=("anna", "bob"),
    homes={},
    shared_everywhere=True,
    largest_script=100,
)


def test_by_a_token_nobody_is_an_administrator() -> None:
    assert RULES.may_change(ANNA, "bob") and RULES.may_change(Caller(0, "root"), "bob")
    by_token = replace(ANNA, token="0123456789")
    assert RULES.may_change(by_token, "anna")
    assert not RULES.may_change(by_token, "bob")
    assert not RULES.may_change(Caller(0, "root", "0123456789"), "bob")


def test_a_script_that_is_too_large_is_refused() -> None:
    assert RULES.check(ANNA, submission(script=b"#!/bin/sh\n" + b"#" * 90)) == 600
    with pytest.raises(ServiceError, match="has 101 bytes, and at most 100 are allowed") as caught:
        RULES.check(ANNA, submission(script=b"#!/bin/sh\n" + b"#" * 91))
    assert caught.value.failure is Failure.TOO_LARGE


def test_files_are_not_staged_by_a_token(tmp_path: Path) -> None:
    me = Caller(os.geteuid(), "me")
    wanted = submission(stage_in=("data",), submit_dir=str(tmp_path))
    assert RULES.check(me, wanted) == 600
    with pytest.raises(ServiceError, match="files on another host") as caught:
        RULES.check(replace(me, token="0123456789"), wanted)
    assert caught.value.failure is Failure.FORBIDDEN
