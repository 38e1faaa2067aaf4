"""Public reference figures (models, section 4): to every printed digit, and job by job."""

import pytest

from tests.simulation.playing import mean, play, waits
from tests.simulation.traces import CTC, KTH, pyss_waits, small, trace


def test_easy_in_pyss_order_equals_the_first_waits_of_kth_job_by_job() -> None:
    jobs, expected = small()
    assert waits(play("EASY", jobs, [100], "pyss")) == expected


@pytest.mark.parametrize(
    ("policy", "order", "expected"),
    [
        ("FCFS", "batch", 14237.4006),
        ("EASY", "batch", 2333.8075),
        ("EASY", "pyss", 2333.8075),
        ("CONSERVATIVE", "batch", 2134.0187),
    ],
)
def test_the_first_jobs_of_kth(policy: str, order: str, expected: float) -> None:
    """Our own figures: a change of them is a change of the model."""
    jobs, _ = small()
    assert round(mean(waits(play(policy, jobs, [100], order))), 4) == expected


@pytest.mark.parametrize(
    ("name", "processors", "policy", "order", "expected"),
    [
        (CTC, 430, "FCFS", "batch", 17084.9246),
        (CTC, 430, "EASY", "batch", 3161.7027),
        (CTC, 430, "EASY", "pyss", 3138.5070),
        (CTC, 338, "EASY", "batch", 13943.0070),
        (CTC, 338, "EASY", "pyss", 14272.5945),
        (KTH, 100, "EASY", "batch", 6834.5873),
        (KTH, 100, "EASY", "pyss", 6836.8721),
    ],
)
def test_the_mean_wait_of_a_trace(
    name: str, processors: int, policy: str, order: str, expected: float
) -> None:
    found = mean(waits(play(policy, trace(name), [processors], order)))
    assert round(found, 4) == expected


@pytest.mark.parametrize(("name", "processors"), [(CTC, 338), (KTH, 100)])
def test_easy_in_pyss_order_equals_the_reference_job_by_job(name: str, processors: int) -> None:
    assert waits(play("EASY", trace(name), [processors], "pyss")) == pyss_waits(name)
