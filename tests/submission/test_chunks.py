"""On how many nodes a job's tasks are, by its user's own options."""

from __future__ import annotations

import pytest

from metabroker.submission.chunks import NodeRange
from metabroker.submission.model import AskedOption, Processors, Submission


@pytest.mark.parametrize(
    ("options", "nodes"),
    [
        ((), (0, 0)),
        ((("nodes", "4"),), (4, 4)),
        ((("nodes", "2-8"),), (2, 8)),
        ((("ntasks-per-node", "3"),), (6, 6)),
        ((("nodes", "2-8"), ("ntasks-per-node", "4")), (4, 8)),
        ((("nodes", "0"), ("ntasks-per-node", "0"), ("gpus-per-node", "4")), (0, 0)),
        ((("nodes", "many"), ("partition", "4"), ("constraint", None)), (0, 0)),
    ],
)
def test_on_how_many_nodes_sixteen_tasks_are(
    options: tuple[tuple[str, str | None], ...], nodes: tuple[int, int]
) -> None:
    asked = tuple(AskedOption(option, value) for option, value in options)
    submission = Submission(b"", "job.sh", Processors(single=16), "/", asked=asked)
    assert submission.nodes == NodeRange(*nodes)
