"""`--only-at-input`: a job that runs nowhere but where all its files lie."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from metabroker.api.service import Failure, ServiceError
from metabroker.runtime.cluster_accounts import wanted
from metabroker.submission.model import Submission


def away(
    submission: Submission, clusters: Sequence[str], closed: Collection[str]
) -> tuple[str, ...]:
    """The clusters that are closed to a job, these and those that do not have all its files.

    Raises:
        ServiceError: it could go nowhere, or not to a cluster that its user has named.
    """
    if not submission.only_at_input:
        return tuple(closed)
    where = [set(at) for _, at in submission.inputs.files]
    without = [name for name in clusters if not all(name in at for at in where)]
    candidates = [name for name in wanted(submission, list(clusters)) if name not in closed]
    refused = [name for name in candidates if name in without]
    if refused and (submission.processors.on is not None or len(refused) == len(candidates)):
        raise ServiceError(
            Failure.INVALID,
            f"--only-at-input: not all files of --input-at lie in {' or '.join(refused)}"[:1000],
            "name their copies (delft:/data/x,leiden:/data/x), or leave --only-at-input out",
        )
    return tuple(dict.fromkeys((*closed, *without)))
