"""Whose a job is that does not bear its component's token: it may have been renamed.

Its id tells that, and when it was submitted; or the record of who has started the script. Neither
is certain: a controller that has lost its state gives an id again, within seconds, and a record is
its user's to write. So a job that bears the token of another component is that one's.
"""

from __future__ import annotations

from collections.abc import Iterable

from metabroker.broker import tokens
from metabroker.broker.observation import NativeJob
from metabroker.broker.tokens import NativeId

from .port import Writer

_SAME = 1.0  # seconds: clusters tell whole ones


def is_of(
    token: str, name: str, job: NativeJob, known: Iterable[NativeId | None], writer: Writer | None
) -> bool:
    """Whether it is the token's, under another name. `known`: the jobs that were the token's; what
    its cluster has told the submit time of is that one by whatever name."""
    told = [each for each in known if each is not None and job.is_of(each)]
    if tokens.is_another(name, token):
        return any(each.listed and _at_once(each, job) for each in told)
    return bool(told) or (writer is not None and writer.wrote(job))


def _at_once(native: NativeId, job: NativeJob) -> bool:
    if native.submit_time is None or job.submit_time is None:
        return False
    return abs(native.submit_time - job.submit_time) <= _SAME
