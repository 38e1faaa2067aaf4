"""Where and when a job would run now, and why: a dry run."""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.api.service import Json
from metabroker.broker.transfer import costs, told
from metabroker.prediction import Asked
from metabroker.runtime.asked import AskToSubmit
from metabroker.runtime.engine import Engine

from . import at_limit, reasons
from .predictions import asked as of_job


def preview(engine: Engine, asked: AskToSubmit, now: float) -> tuple[Json, Asked | None]:
    """To be asked in the core's thread. If it would wait in a queue, the job itself too, as far as
    its start depends on it.

    Answers `{"dry_run": true, "starts_now": bool, "queue": str, "position": int, "components":
    [{"index", "cluster", "processors", "held", "files_in"}], "earliest_start": float | null,
    "expected_start": null, "reason": str}`. `files_in`: seconds until its files are there; null: it
    has none, or the cluster is not known.

    Raises:
        Rejected: it could never run.
    """
    view, names = engine.broker.view, engine.names.names
    new = engine.new_job(asked)
    engine.named(new, asked.over)  # of the tasks of an array, which may be very many, none is told
    plan = view.at(now).plan(new)
    queue, start = plan.queue, plan.start
    position = view.in_queues.waiting().get(queue, 0)
    where = new.request.clusters if start is None else start
    shown = reasons.preview(view, new, plan, now)
    if start is not None and new.shape and not view.at(now).has_nodes(new, plan):
        start, shown = None, reasons.no_nodes(new)
    usage = view.usage()
    beyond = view.beyond(new, queue, usage) is not None
    if beyond:
        start, shown = None, at_limit.held_back(view, new, queue, usage)
    if new.awaits is not None:
        beyond, start, shown = True, None, reasons.dependency(str(new.awaits), joins=new.joins)
    files: Sequence[float] = ()
    if new.inputs:
        files = costs(new.inputs, view.settings, view.links) or (0.0,) * len(names)
    if start is not None:
        shown = "it fits on the idle processors now"
        if files:
            longest = max(files[cluster] for cluster in start)
            shown += f"; {told(longest, [names[cluster] for cluster in start])}"
    shown_plan: Json = {
        "dry_run": True,
        "starts_now": start is not None,
        "queue": names[queue] if queue < len(names) else "global",
        "position": position,
        "components": [
            {
                "index": index,
                "cluster": None if where is None else names[where[index]],
                "processors": processors,
                "held": processors
                if where is None
                else view.at(now).would_hold(new, where[index], processors),
                "files_in": files[where[index]] if files and where is not None else None,
            }
            for index, processors in enumerate(plan.sizes)
        ],
        "earliest_start": now if start is not None else None,
        "expected_start": None,
        "reason": shown,
    }
    waits = start is None and not beyond and plan.request is not None
    return shown_plan, of_job(new, queue) if waits else None
