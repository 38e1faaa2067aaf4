"""Accounts as `sacctmgr` and `sshare` speak of them."""

from __future__ import annotations

import sys

from metabroker.api.client import Client


def accounts(way: Client, user: str, command: str) -> list[str]:
    """Those that the user's jobs may name. Where clusters take any name it is not known which are
    theirs: none are told, and the `command` says so. Raises `ClientError`."""
    found: list[str] | None = way.get("names", user=user)["accounts"]
    if found is None:
        told = "clusters take any name of an account: their own commands tell which there are"
        print(f"{command}: {told}", file=sys.stderr)
    return found or []
