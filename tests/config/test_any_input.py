"""Whatever a file holds: a configuration, or errors that say where and what to do."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.config import (
    Config,
    ConfigErrors,
    OpenPBSConfig,
    SimulatedConfig,
    SlurmConfig,
    parse,
    render,
)
from tests.share import share

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 200),
    st.integers(),
    st.floats(),
    st.dates(),
    st.text(max_size=12),
    st.sampled_from(
        ["slurm", "openpbs", "simulated", "local", "self", "GS", "5s", "lab", "reservation"]
    ),
)
_ANY = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_SCALARS, inner, max_size=3),
    max_leaves=6,
)
_CLUSTER_KEYS = sorted(
    {
        *SlurmConfig.model_fields,
        *OpenPBSConfig.model_fields,
        *SimulatedConfig.model_fields,
        "host",
    }
)
_CLUSTER = st.dictionaries(st.sampled_from(_CLUSTER_KEYS), _ANY, max_size=6) | st.builds(
    lambda more: {"system": "simulated", "processors": 8, **more},
    st.dictionaries(st.sampled_from(_CLUSTER_KEYS), _ANY, max_size=2),
)
_DATA = st.fixed_dictionaries(
    {
        "clusters": st.dictionaries(
            st.sampled_from(["lab", "no", "1"]) | _SCALARS, _CLUSTER, max_size=3
        )
    },
    optional={name: _ANY for name in Config.model_fields if name != "clusters"},
)


def _check(text: str | bytes) -> None:
    try:
        config = parse(text, file="f")
    except ConfigErrors as caught:
        assert caught.errors
        for error in caught.errors:
            assert error.line >= 1
            assert error.message
            assert error.advice
            assert len(str(error)) < 2000
    else:
        assert parse(render(config)) == config


@given(st.text() | st.binary())
def test_any_text(text: str | bytes) -> None:
    _check(text)


@given(st.text(alphabet="{}[]:,-?*&!|>'\"#% \n\tab1<", max_size=40))
def test_any_punctuation(text: str) -> None:
    _check(text)


@settings(max_examples=share(60), deadline=None)
@given(_DATA)
def test_any_data_under_known_keys(data: dict[str, Any]) -> None:
    _check(yaml.safe_dump(data, allow_unicode=True))
