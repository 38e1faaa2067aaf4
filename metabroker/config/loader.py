"""From a file to a `Config`, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from metabroker.config import explain, users, values
from metabroker.config.errors import ConfigErrors
from metabroker.config.model import Config
from metabroker.config.problems import Problem, nearest

from . import host_checks, ssh_checks
from .yaml_nodes import Document, mapping, read_bytes


def load(path: str | Path, *, files: bool = False) -> Config:
    """The configuration in file `path`. Raises `ConfigErrors` with all its errors.

    Relative paths in it start at the file's own folder. `files`: look at the files and folders of
    this host that it names, too.
    """
    text = read_bytes(path, "name a readable configuration file with --config")
    config = parse(text, file=str(path), folder=Path(path).absolute().parent)
    if files:
        document = Document(text, str(path))
        wrong = [document.placed(problem) for problem in host_checks.problems(config)]
        if wrong:
            raise ConfigErrors(wrong)
    return config


def parse(text: bytes | str, *, file: str = "<text>", folder: Path | None = None) -> Config:
    """The configuration in `text`; `file` names it in errors, relative paths start at `folder`.

    Raises `ConfigErrors` with all its errors, in the order of lines.
    """
    document = mapping(text, file, "write `clusters:` and below it the clusters")
    config, problems = _validate(document.data, folder or Path.cwd())
    errors = document.duplicates + [document.placed(problem) for problem in problems]
    if errors or config is None:
        raise ConfigErrors(errors)
    return config


def _validate(data: dict[str, Any], folder: Path) -> tuple[Config | None, list[Problem]]:
    problems = list(_across(data, folder))
    try:
        config = Config.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        found = [explain.problem(item) for item in error.errors()]
        return None, [problem for problem in found if problem is not None] + problems
    return config, problems + list(_trust(config))


def _trust(config: Config) -> Iterator[Problem]:
    """Users who would have more than the configuration says."""
    shared = config.shared_with_submitters
    if shared and not config.submitters_share_everything:
        yield Problem(
            ("submitters",),
            f"their jobs in {', '.join(shared)} would run as the daemon's own account on its own "
            "host: each of them could read the store, everybody's scripts and environments, and "
            "keys, and submit as anybody",
            "use `run_as: sudo`, or write `submitters_share_everything: true` if they may",
        )


def _across(data: dict[str, Any], folder: Path) -> Iterator[Problem]:
    """What is wrong between keys that are each right by themselves."""
    clusters = data.get("clusters")
    homes = data.get("homes")
    if isinstance(clusters, dict) and isinstance(homes, dict):
        for user, name in homes.items():
            if isinstance(name, str) and name not in clusters:
                advice = nearest(name, clusters) or "name one of `clusters`"
                yield Problem(("homes", user), f"there is no cluster {name!r}", advice)
    yield from _staging(data.get("transfer"), clusters)
    policy, discipline = data.get("policy"), data.get("discipline")
    if policy in ("FCFS", "FPFS") and discipline in ("FCFS", "FPFS") and policy != discipline:
        message = f"policy {policy} is itself a discipline, so {discipline} cannot apply"
        yield Problem(("discipline",), message, "leave `discipline` out")
    if policy in ("EASY", "CONSERVATIVE", "JOB-SHARING", "MULTI-SITE") and discipline == "FPFS":
        message = f"policy {policy} backfills by time limits, so FPFS cannot apply"
        yield Problem(("discipline",), message, "leave `discipline` out")
    placement, fewest = data.get("placement"), "fewest-clusters"
    if placement is not None and (policy == "MULTI-SITE") != (placement == fewest):
        message = f"placement {fewest} and policy MULTI-SITE go together"
        yield Problem(("placement",), message, "leave `placement` out")
    yield from _times(data)
    yield from _in_clusters(clusters if isinstance(clusters, dict) else {}, folder)


def _staging(transfer: object, clusters: object) -> Iterator[Problem]:
    staging = transfer.get("staging") if isinstance(transfer, dict) else None
    if isinstance(clusters, dict) and isinstance(staging, dict):
        for name in staging:
            if isinstance(name, str) and name not in clusters:
                advice = nearest(name, clusters) or "name one of `clusters`"
                key = ("transfer", "staging", name)
                yield Problem(key, f"there is no cluster {name!r}", advice)


def _times(data: dict[str, Any]) -> Iterator[Problem]:
    """A job that names no time limit would be refused for the one that it is given."""
    if data.get("max_time") is None or "default_time" not in data:
        return
    try:
        longest = values.whole_seconds(data["max_time"])
        default = values.whole_seconds(data["default_time"])
    except ValueError:
        return  # each is told by itself
    if default > longest:
        told = values.duration_text(default), values.duration_text(longest)
        message = f"{told[0]} is more than `max_time`, {told[1]}"
        yield Problem(("default_time",), message, "write one that is at most `max_time`")


def _in_clusters(clusters: dict[str, Any], folder: Path) -> Iterator[Problem]:
    for name, cluster in clusters.items():
        if not isinstance(cluster, dict):
            continue
        yield from ssh_checks.problems(name, cluster)
        yield from users.problems(name, cluster, folder)
        processors, nodes = cluster.get("processors"), cluster.get("nodes")
        if type(processors) is int and type(nodes) is int and 0 < processors < nodes:
            message = f"{nodes} nodes cannot share {processors} processors"
            advice = "give at least as many processors as nodes"
            yield Problem(("clusters", name, "nodes"), message, advice)
        elif cluster.get("system") == "simulated":
            yield from _in_whole_nodes(name, processors, nodes, cluster.get("whole_nodes"))


def _in_whole_nodes(name: str, processors: Any, nodes: Any, size: Any) -> Iterator[Problem]:
    """Of a simulated cluster, whose nodes are all alike."""
    if type(processors) is not int or type(size) is not int or processors < 1 or size < 1:
        return  # each is told by itself
    if processors % size:
        message = f"{processors} processors are not whole nodes of {size}"
        more = -(-processors // size) * size
        advice = f"let `processors` be a multiple of it, for example {more}"
        yield Problem(("clusters", name, "whole_nodes"), message, advice)
    elif type(nodes) is int and nodes * size != processors:
        message = f"{processors} processors in nodes of {size} are not {nodes} nodes"
        advice = f"remove `nodes`: they are {processors // size}"
        yield Problem(("clusters", name, "nodes"), message, advice)
