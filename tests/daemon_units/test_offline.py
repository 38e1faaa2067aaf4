"""The twins that `serve --offline` puts in the place of clusters."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TypeVar

import pytest

from metabroker.clusters.operation import Operation
from metabroker.clusters.port import ReserveRequest
from metabroker.config import Config, ConfigErrors, SimulatedConfig, parse
from metabroker.daemon import build, offline
from metabroker.store import Store
from metabroker.submission.shape import Shape

T = TypeVar("T")


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


def _reserved_at_once(folder: Path, clusters: str, shape: Shape) -> dict[str, int]:
    """How many components of one task each twin of 4 x 16 processors reserves, as a daemon makes
    it, and that then none is idle."""
    config, store = offline.twins(_config(folder, clusters)), Store("sqlite://")
    found = {}
    try:
        made = build.settings(config, store)
        for name, twin in zip(
            config.clusters, build.clusters(config, made, store, {}), strict=True
        ):
            count = 0
            while _done(twin.observe(0.0)).free:
                _done(twin.reserve(ReserveRequest(f"mb-{made.instance}-{count}", 1, 600, 1, shape)))
                count += 1
            found[name] = count
            twin.close()
    finally:
        store.close()
    return found


def _done(operation: Operation[T]) -> T:
    """What comes of an operation that asks for no command."""
    try:
        next(operation)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("a command")


@pytest.mark.parametrize("shape", [Shape(memory=1000), Shape(memory_per_cpu=10), Shape(gpus=1)])
def test_the_twin_of_a_slurm_cluster_reserves_whole_nodes_for_memory_and_gpus(
    tmp_path: Path, shape: Shape
) -> None:
    nodes = "processors: 64, nodes: 4"
    real = f"delft: {{system: slurm, {nodes}}}, leiden: {{system: openpbs, {nodes}}}"
    assert _reserved_at_once(tmp_path, real, shape) == {"delft": 4, "leiden": 49}
    assert _reserved_at_once(tmp_path / "more", real, Shape()) == {"delft": 49, "leiden": 49}


@pytest.mark.parametrize(
    ("cluster", "told"),
    [
        ("system: slurm, processors: 64", True),
        ("system: slurm, processors: 64, nodes: 4", False),
        ("system: slurm, processors: 64, whole_nodes: 16", False),
        ("system: slurm, processors: 64, claim: placeholder", False),
        ("system: openpbs, processors: 64", False),
        ("system: simulated, processors: 64", False),
    ],
)
def test_a_twin_without_nodes_that_would_reserve_whole_ones_tells_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, cluster: str, told: bool
) -> None:
    twins(tmp_path, f"delft: {{{cluster}}}")
    found = [r.getMessage() for r in caplog.records if "memory or GPUs" in r.getMessage()]
    assert [text.startswith("delft: ") and "write `nodes`" in text for text in found] == [
        True
    ] * told


def test_no_file_can_ask_for_a_twin(tmp_path: Path) -> None:
    with pytest.raises(ConfigErrors, match="twin_of"):
        _config(tmp_path, "delft: {system: simulated, processors: 64, twin_of: slurm}")
