"""Users whose jobs run under the daemon's own account have all that it has."""

from __future__ import annotations

from metabroker.config.errors import ConfigRefusal
from metabroker.config.model import Config

OFFLINE = "leave `submitters` out, or write `submitters_share_everything: true` if they may"


def shares_nothing(config: Config, told: str, advice: str) -> None:
    """Raises `ConfigRefusal`: users would act as the daemon's own account, and no word of that."""
    if config.shared_with_submitters and not config.submitters_share_everything:
        where = ", ".join(config.shared_with_submitters)
        why = f"`submitters` would act as the daemon's own account in {where}, {told}"
        raise ConfigRefusal(why, advice)
