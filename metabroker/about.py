"""What a line of the log is about, for logs that have fields: `log.info(..., extra=about(ref))`.

The daemon's logs give it as METABROKER_JOB, METABROKER_COMPONENT and METABROKER_CLUSTER to the
journal, and as keys in JSON; plain text leaves it out, since the words of a line tell it too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from metabroker.broker.tokens import Ref

_ATTRIBUTE = "metabroker"


def about(ref: Ref | None = None, cluster: str | None = None) -> dict[str, object]:
    """The `extra` of a log call about a component, or a cluster, or one in the other."""
    fields: dict[str, object] = {}
    if ref is not None:
        fields.update(job=ref.job, component=ref.component)
    if cluster is not None:
        fields["cluster"] = cluster
    return {_ATTRIBUTE: fields}


def fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    """What `about` gave: some of `job`, `component` and `cluster`."""
    fields: Mapping[str, object] = getattr(record, _ATTRIBUTE, {})  # not ours
    return fields
