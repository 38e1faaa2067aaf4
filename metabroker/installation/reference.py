"""metabroker.yaml(5): every key of the configuration, from its models."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from metabroker import __version__, paths
from metabroker.config import parse
from metabroker.config.clusters import OpenPBSConfig, RealCluster, SimulatedConfig, SlurmConfig
from metabroker.config.model import Config, ListenConfig
from metabroker.config.render import as_data

from . import roff

_ABOUT = """
One YAML file. Every key has a default but `clusters`, and there a cluster's `system` and the
`processors` of a simulated one. Times are written 500ms, 5s, 10m, 24h or 2d; relative paths start
at the file's folder. `metabroker check` says what is wrong with a file, by line and key, and
`metabroker check --show` prints it with every default.
"""
_LEAST = """
clusters:
  slurm: {system: slurm}
  openpbs: {system: openpbs}
  simulated: {system: simulated, processors: 1}
"""
_OF_THE_SERVICE = {
    "store": f"sqlite:///{paths.SYSTEM_STATE}/metabroker.db",
    "socket": str(paths.SYSTEM_SOCKET),
}
"""Defaults that depend on whose daemon it is."""


def page() -> str:
    """The page."""
    defaults = {**as_data(parse(_LEAST)), **_OF_THE_SERVICE}
    return "".join(
        (
            roff.head("metabroker.yaml", 5, __version__),
            roff.section("NAME", "metabroker.yaml \\- configuration of the metabroker daemon\n"),
            roff.section("SYNOPSIS", roff.bold("/etc/metabroker/metabroker.yaml") + "\n"),
            roff.section("DESCRIPTION", roff.paragraphs(_ABOUT)),
            roff.section("KEYS", roff.listed(_keys(Config, defaults))),
            roff.section("KEYS OF LISTEN", roff.listed(_keys(ListenConfig, {}, "listen."))),
            *_clusters(defaults["clusters"]),
            roff.section("EXAMPLE", roff.example(*_EXAMPLE)),
            roff.section(
                "SEE ALSO", "\\fBmetabroker\\-serve\\fR(1), \\fBmetabroker\\-check\\fR(1)\n"
            ),
        )
    )


_EXAMPLE = (
    "policy: LP-GF",
    "clusters:",
    "  delft:  {system: slurm, partition: batch}",
    "  leiden: {system: openpbs, queue: workq}",
)


def _clusters(defaults: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What any cluster has, what any real one has, and what each system's own keys are."""
    real, simulated = set(RealCluster.model_fields), set(SimulatedConfig.model_fields)
    of_slurm = defaults["slurm"]
    parts: tuple[tuple[str, type[BaseModel], Mapping[str, Any], Collection[str]], ...] = (
        ("KEYS OF A CLUSTER", SlurmConfig, of_slurm, real & simulated),
        ("KEYS OF A SLURM OR OPENPBS CLUSTER", SlurmConfig, of_slurm, real - simulated),
        (
            "KEYS OF A SLURM CLUSTER",
            SlurmConfig,
            of_slurm,
            SlurmConfig.model_fields.keys() - real,
        ),
        (
            "KEYS OF AN OPENPBS CLUSTER",
            OpenPBSConfig,
            defaults["openpbs"],
            OpenPBSConfig.model_fields.keys() - real,
        ),
        (
            "KEYS OF A SIMULATED CLUSTER",
            SimulatedConfig,
            defaults["simulated"],
            simulated - real,
        ),
    )
    for title, model, values, wanted in parts:
        yield roff.section(title, roff.listed(_keys(model, values, wanted=wanted)))


def _keys(
    model: type[BaseModel],
    defaults: Mapping[str, Any],
    prefix: str = "",
    wanted: Collection[str] | None = None,
) -> Iterator[tuple[str, str]]:
    """Each key, and what is said of it; those of a section of its own follow it."""
    for name, field in model.model_fields.items():
        if wanted is None or name in wanted:
            inner = type(field.default) if isinstance(field.default, BaseModel) else None
            has_default = not field.is_required() and inner is None
            yield (
                roff.bold(prefix + name),
                _said(field, _plain(defaults[name]) if has_default else None),
            )
            if inner is not None:
                yield from _keys(inner, defaults[name], f"{prefix}{name}.")


def _said(field: FieldInfo, default: str | None) -> str:
    parts = [(field.description or "").strip()]
    choices = list(dict.fromkeys(_choices(field.annotation)))
    if len(choices) > 1:
        parts.append(f"One of {', '.join(choices)}.")
    if default is not None:
        parts.append(f"Default: `{default}`")
    return "\n\n".join(parts)


def _choices(annotation: Any) -> list[str]:
    """The words of a Literal, wherever it is within the annotation of a key."""
    if get_origin(annotation) is Literal:
        return [str(word) for word in get_args(annotation)]
    if get_origin(annotation) is Annotated:
        return _choices(get_args(annotation)[0])
    return [word for part in get_args(annotation) for word in _choices(part)]


def _plain(value: object) -> str:
    """As it would stand in the file."""
    return value if isinstance(value, str) else json.dumps(value)
