"""What every error of a file of settings says."""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.config import ConfigError


def explained(
    found: Sequence[ConfigError], place: str, key: str, message: str, advice: str
) -> None:
    """One of the errors is about the key, at that place (FILE:LINE), and says what to do."""
    matching = [error for error in found if error.key == key and message in error.message]
    assert matching, f"not found in {[str(error) for error in found]}"
    assert str(matching[0]).startswith(place)
    assert advice in matching[0].advice
