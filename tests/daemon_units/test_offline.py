"""The twins that `serve --offline` puts in the place of clusters."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from metabroker.config import Config, SimulatedConfig, parse
from metabroker.daemon import build, offline
from metabroker.store import Store


def twins(folder: Path, clusters: str) -> dict[str, SimulatedConfig]:
    """Of clusters that were never seen."""
    found = offline.twins(_config(folder, clusters)).clusters
    made = {name: twin for name, twin in found.items() if isinstance(twin, SimulatedConfig)}
    assert made.keys() == found.keys()
    return made


def _config(folder: Path, clusters: str) -> Config:
    return parse(f"store: sqlite:///{folder}/mb.db\nclusters: {{{clusters}}}\n")


@pytest.mark.parametrize(
    ("cluster", "processors", "nodes", "unit"),
    [
        ("system: slurm, processors: 96, whole_nodes: 48", 96, 2, 48),
        ("system: openpbs, processors: 96, whole_nodes: 48", 96, 2, 48),
        ("system: simulated, processors: 96, whole_nodes: 48", 96, 2, 48),
        ("system: slurm, nodes: 3, whole_nodes: 48", 144, 3, 48),
        ("system: slurm, whole_nodes: 48", 96, 2, 48),  # a guess, but no part of a node
        ("system: slurm, processors: 40, nodes: 4, whole_nodes: 12", 40, 3, 12),  # not all alike
        ("system: slurm, processors: 96, nodes: 2, native: [--exclusive]", 96, 2, 48),
        ("system: slurm, processors: 96, nodes: 2", 96, 2, None),
        ("system: slurm", 64, None, None),
    ],
)
def test_twins_give_whole_nodes_where_the_clusters_do(
    tmp_path: Path, cluster: str, processors: int, nodes: int | None, unit: int | None
) -> None:
    twin = twins(tmp_path, f"delft: {{{cluster}}}")["delft"]
    assert (twin.processors, twin.nodes, twin.whole_nodes) == (processors, nodes, unit)


def test_what_nodes_of_their_own_jobs_get_must_be_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    cluster = "delft: {system: slurm, processors: 96, native: [--exclusive]}"
    assert twins(tmp_path, cluster)["delft"].whole_nodes is None
    (told,) = (r.getMessage() for r in caplog.records if "nodes of their own" in r.getMessage())
    assert told.startswith("delft: ") and "write `nodes`" in told
    twins(tmp_path, "leiden: {system: slurm, processors: 96, whole_nodes: 48}")
    assert "leiden: its twin has 96 processors, in whole nodes of 48, as configured" in caplog.text


def test_the_core_counts_a_twin_s_nodes(tmp_path: Path) -> None:
    config = offline.twins(_config(tmp_path, "delft: {system: slurm, whole_nodes: 48}"))
    store = Store("sqlite://")
    try:
        assert [cluster.unit for cluster in build.settings(config, store).clusters] == [48]
    finally:
        store.close()
