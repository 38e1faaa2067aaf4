"""What the models of all files have in common: the daemon's configuration and the scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from metabroker.config import values

Count = Annotated[int, Field(ge=1, le=10**9)]
ClusterName = Annotated[str, AfterValidator(values.cluster_name)]


class Section(BaseModel):
    """A frozen mapping of known keys, each of which has its own type and no other."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_default=False,
        use_attribute_docstrings=True,
    )


class SizeLimits(Section):
    """The largest request that is taken; null: no limit."""

    component: Count | None = None
    """processors in one component; a flexible request is split into components of at most this"""
    components: Count | None = None
    """components in one job"""
    total: Count | None = None
    """processors in one job"""


def folder(info: ValidationInfo) -> Path:
    """Where relative paths start: the file's own folder."""
    return Path((info.context or {}).get("folder", "")).absolute()


def as_tuple(value: object) -> object:
    """A YAML list as the tuple that a frozen model holds; left empty, an empty one."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else value


def empty(value: object) -> object:
    """A section whose keys are all left out, or commented out, has its defaults."""
    return {} if value is None else value
