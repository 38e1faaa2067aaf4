"""A configuration back as YAML: what is in force, every default written out."""

from __future__ import annotations

from typing import Any

import yaml

from metabroker.config.model import Config


def as_data(config: Config) -> dict[str, Any]:
    """The configuration as plain JSON-able data, every key with its value."""
    return config.model_dump(mode="json")


def render(config: Config) -> str:
    """The configuration as YAML text that loads as an equal one."""
    return yaml.safe_dump(as_data(config), sort_keys=False, allow_unicode=True)
