"""What tests of experiments share."""

from __future__ import annotations

import pytest

from metabroker.experiments.result_cache import ResultCache


@pytest.fixture(scope="module")
def results() -> ResultCache:
    """One for all tests of a module, so that they share their runs."""
    return ResultCache()
