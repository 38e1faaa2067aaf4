"""The systems of ER 3.1 and 3.2: machine configurations, multi-site scheduling, job sharing."""

from __future__ import annotations

from .ctc import EXTRACTS, SYNTHETIC, Replayed, digest, log
from .experiment import Figure
from .scale import Scale

CONFIGURATIONS: dict[str, tuple[int, ...]] = {
    "m64": (64,) * 4 + (32,) * 6 + (8,) * 8,
    "m64-8": (64,) * 8,
    "m128": (128,) * 4,
    "m256": (256,) * 2,
    "m256-5": (256,) + (64,) * 4,
    "m384": (384, 64) + (16,) * 4,
    "m512": (512,),
}
"""ER Table 1."""
ORIGINAL = (*(f"{name}_org" for name in EXTRACTS), f"{SYNTHETIC}_org")
PARTS = (*(f"{name}_max64" for name in EXTRACTS), f"{SYNTHETIC}_max64")
WORKLOADS = tuple(name for pair in zip(ORIGINAL, PARTS, strict=True) for name in pair)
"""ER Table 2."""
MAIN = "60_70k_org"
"""The workload of figures 2, 3 and 5."""
OVERHEADS = tuple(range(0, 65, 5))
FEWER = (0, 20, 35, 40, 45, 50, 60)
"""In percent: those of the paper, and those of quick runs."""
QUICK_JOBS = 2000
"""Of each extract, in quick runs: the paper's have 10000."""
EXTRACT_JOBS = 10_000

METRICS: dict[str, Figure] = {
    "AWRT": lambda outcome: outcome.awrt,
    "AWWT": lambda outcome: outcome.awwt,
    "multi-site jobs": lambda outcome: float(outcome.split_jobs),
    "squashed area": lambda outcome: 100 * outcome.split_share,
}


def overheads(scale: Scale) -> tuple[int, ...]:
    """The p of a scale."""
    return OVERHEADS if scale.name == "full" else FEWER


def extract_jobs(scale: Scale) -> int:
    """The length of each extract at a scale."""
    return EXTRACT_JOBS if scale.name == "full" else min(QUICK_JOBS, scale.jobs)


def multi_site(workload: str, name: str, p: int, scale: Scale) -> Replayed:
    """A configuration under multi-site scheduling with an overhead of `p` percent.

    With one machine all p are the same run: "no multi-site scheduling is applied" (ER 3.3), and
    "normal backfilling queues the job in first-come-first-serve order".
    """
    if len(CONFIGURATIONS[name]) == 1:
        return _replayed(workload, name, "EASY", 0.0, scale)
    return _replayed(workload, name, "MULTI-SITE", p / 100, scale)


def job_sharing(workload: str, name: str, scale: Scale) -> Replayed:
    """A configuration under job sharing."""
    return _replayed(workload, name, "JOB-SHARING", 0.0, scale)


def _replayed(workload: str, name: str, policy: str, overhead: float, scale: Scale) -> Replayed:
    jobs, file = extract_jobs(scale), str(log(scale))
    machines = CONFIGURATIONS[name]
    return Replayed(workload, machines, policy, overhead, jobs, scale.seed, file, digest(file))


def there(workload: str, scale: Scale) -> bool:
    """Can this workload be played here? Extracts need the log."""
    return workload.startswith(SYNTHETIC) or log(scale).is_file()
