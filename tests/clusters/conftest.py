"""For all tests of clusters."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow]  # a busy machine is no error
settings.register_profile("unhurried", deadline=None, suppress_health_check=SLOW)
settings.load_profile("unhurried")
