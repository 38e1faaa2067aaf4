"""The daemon that these commands ask: that of the environment, or of the usual places."""

from __future__ import annotations

import os

from metabroker.api.client import Client
from metabroker.paths import find_socket, token_file


def client() -> Client:
    """A client of it. Raises `ClientError` when it is used, or where the way to it is no way."""
    url = os.environ.get("METABROKER_URL")
    if not url:
        return Client(os.environ.get("METABROKER_SOCKET") or find_socket())
    from pathlib import Path

    from metabroker.api.remote import Remote

    authority = os.environ.get("METABROKER_CA_FILE")
    return Client(Remote(url, token_file(), Path(authority) if authority else None))
