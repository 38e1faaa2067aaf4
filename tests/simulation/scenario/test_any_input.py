"""Whatever a scenario or an option holds: runs, or errors that say where and what to do."""

from __future__ import annotations

import contextlib
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.config.errors import ConfigErrors
from metabroker.config.keys import model_at
from metabroker.simulation.rounds import Task, play
from metabroker.simulation.scenario.loader import parse_text
from metabroker.simulation.scenario.model import Scenario, Workload
from metabroker.simulation.scenario.results import scenario_data
from tests.share import share

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 64),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["GS", "EASY", "AFCFS", "mix", "lognormal", "auto", "none", "a", "FPFS"]),
)
_ANY = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_SCALARS, inner, max_size=3),
    max_leaves=6,
)


def _section(*path: str) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings of the keys that are known at a place, and hardly any others."""
    model = model_at(Scenario, path)
    assert model is not None
    return st.dictionaries(st.sampled_from([*model.model_fields, "x"]), _ANY, max_size=4)


_WORKLOAD = st.one_of(
    *(
        st.builds(lambda value, name=name: {name: value}, _section("workload", name) | _ANY)
        for name in Workload.model_fields
    ),
    _section("workload"),
    st.builds(
        lambda more: {"synthetic": {"utilization": 0.5, **more}},
        _section("workload", "synthetic"),
    ),
)
_LOCAL = st.one_of(
    _section("clusters", "a", "local"),
    st.builds(
        lambda workload: {"workload": workload}, _section("clusters", "a", "local", "workload")
    ),
    st.builds(
        lambda more: {"workload": {"synthetic": {"utilization": 0.5, **more}}},
        _section("workload", "synthetic"),
    ),
)
_DATA = st.fixed_dictionaries(
    {
        "clusters": st.dictionaries(st.sampled_from("abcd"), st.integers(-1, 40), max_size=4)
        | st.just({"a": 8, "b": 8})
        | st.builds(lambda local: {"a": {"processors": 8, "local": local}, "b": 8}, _LOCAL)
        | _ANY,
        "workload": _WORKLOAD,
    },
    optional={n: _ANY for n in Scenario.model_fields if n not in ("clusters", "workload")},
)


def _check(text: str | bytes, *sets: str) -> None:
    try:
        plans = parse_text(text, sets, file="f")
    except ConfigErrors as caught:
        assert caught.errors
        for error in caught.errors:
            assert error.line >= 1 or error.file.startswith("--set")
            assert error.message and error.advice
            assert len(str(error)) < 3000
        return
    for plan in plans[:1]:
        (again,) = parse_text(yaml.safe_dump(scenario_data(plan)))
        assert again.scenario == plan.scenario
        if plan.run.jobs <= 100 and not plan.run.system.local:
            with contextlib.suppress(ValueError):
                play(Task(plan.run, 0))


@given(st.text() | st.binary())
def test_any_text(text: str | bytes) -> None:
    _check(text)


@settings(max_examples=share(120), deadline=None)
@given(_DATA)
def test_any_data_under_known_keys(data: dict[str, Any]) -> None:
    _check(yaml.safe_dump(data, allow_unicode=True))


_KEYS = [
    "policy",
    "clusters.a",
    "clusters",
    "clusters.a.local",
    "clusters.a.local.workload.synthetic.composition.0",
    "workload",
    "workload.swf.file",
    "jobs",
    "limits",
    "seed",
    "a",
    ".",
    "workload..x",
    "workload.synthetic.composition",
    "workload.synthetic.composition.0",
    "workload.batch.kinds.0",
    "workload.synthetic.service.cv",
]


@settings(max_examples=share(60), deadline=None)
@given(st.sampled_from(_KEYS) | st.text(max_size=8), _ANY.map(repr) | st.text(max_size=12))
def test_any_option(key: str, value: str) -> None:
    text = "clusters: {a: 8}\nworkload: {synthetic: {utilization: 0.5}}\njobs: 10\n"
    _check(text, f"{key}={value}")
