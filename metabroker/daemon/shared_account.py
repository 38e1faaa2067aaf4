"""Users whose jobs run under the daemon's own account have all that it has."""

from __future__ import annotations

import logging

from metabroker.config.errors import ConfigRefusal
from metabroker.config.model import Config

log = logging.getLogger(__name__)
OFFLINE = "leave `submitters` out, or write `submitters_share_everything: true` if they may"


def trouble_with_submitters(config: Config) -> str | None:
    """Why those that the configuration names may not submit for all that, and what to do."""
    closed = config.closed_to_submitters
    if not closed:
        return None
    keys = ", ".join(f"clusters.{name}.shared_dir" for name in closed)
    return (
        f"nobody under `submitters` may submit: their components need a shared folder of the "
        f"daemon's account in every cluster with `run_as: self`; set {keys}"
    )


def warn_of_submitters(config: Config) -> None:
    """Say in the log what they may, and what they may not."""
    if config.shared_with_submitters:
        log.warning(
            "submitters share everything: in %s each of them can do all that the daemon can",
            ", ".join(config.shared_with_submitters),
        )
    if trouble := trouble_with_submitters(config):
        log.warning("%s", trouble)


def shares_nothing(config: Config, told: str, advice: str) -> None:
    """Raises `ConfigRefusal`: users would act as the daemon's own account, and no word of that."""
    if config.shared_with_submitters and not config.submitters_share_everything:
        where = ", ".join(config.shared_with_submitters)
        why = f"`submitters` would act as the daemon's own account in {where}, {told}"
        raise ConfigRefusal(why, advice)
