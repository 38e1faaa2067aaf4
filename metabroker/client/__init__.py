"""metabroker for Python programs: submit jobs, ask for them, wait for them.

    from metabroker.client import Broker

    broker = Broker()                                   # the daemon of this host
    job = broker.submit("job.sh", components=(16, 8), time="1:00:00")
    print(job.id, job.show()["state"], job.wait()["exit_code"])

A daemon elsewhere is reached over TLS by a token: `Broker("https://broker.example.org:9797")`. What
calls answer is what the commands print with `--json` (docs/contracts.md). For programs that use
asyncio there is `metabroker.client.aio`.

Every call raises `ClientError` where the daemon did not do it, `Unreachable` or `LostReply` where
it gave no answer, and `SubmissionError` where a job is described wrongly. Both have a `message` and
an `advice`.
"""

from metabroker.api.client import ENDED, ClientError, LostReply, Unreachable
from metabroker.submission.errors import SubmissionError

from .broker import Broker, Job
from .jobs import Options

__all__ = [
    "ENDED",
    "Broker",
    "ClientError",
    "Job",
    "LostReply",
    "Options",
    "SubmissionError",
    "Unreachable",
]
