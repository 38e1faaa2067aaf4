"""A run in constant memory says the same as all of its jobs kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.simulation.statistics.series import Series


def filled(values: list[float], chunk: int, rows: int) -> Series:
    series = Series(["value", "square"], ["value"], rows=rows)
    data = np.array(values)
    for start in range(0, len(data), chunk):
        part = data[start : start + chunk]
        series.add(np.column_stack([part, part * part]), part[:, None])
    return series


@given(
    st.lists(st.integers(0, 1000), max_size=400),
    st.integers(1, 60),
    st.sampled_from([2, 4, 16]),
)
def test_sums_are_those_of_the_jobs_however_they_come(
    values: list[int], chunk: int, rows: int
) -> None:
    series = filled([float(v) for v in values], chunk, rows)
    assert series.jobs == len(values)
    assert series.total("value") == sum(values)
    assert series.total("square") == sum(v * v for v in values)
    assert series.top("value") == max(values, default=0)
    size = series.group
    assert series.groups <= rows
    whole = [values[i : i + size] for i in range(0, len(values) - size + 1, size)]
    assert series.means("value").tolist() == pytest.approx([sum(g) / size for g in whole])
    for skipped in range(series.groups + 1):
        assert series.total("value", skipped) == sum(values[skipped * size :])
        assert series.top("value", skipped) == max(values[skipped * size :], default=0)


def test_memory_does_not_grow_with_the_run() -> None:
    series = Series(["value"], rows=64)
    for _ in range(100):
        series.add(np.ones((1000, 1)))
    assert series.total("value") == 100_000
    assert series.groups <= 64


def test_a_number_of_rows_that_cannot_be_halved_is_refused() -> None:
    with pytest.raises(ValueError, match="even"):
        Series(["value"], rows=7)
