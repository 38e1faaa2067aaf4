"""Streams of jobs: drawn from distributions, taken from logs, or all at once.

Randomness: one seeded stream per purpose, consumed job by job, so that policies, utilizations and
limits are compared on the *same* jobs (`streams`). `distributions` are the laws, `shapes` what jobs
ask for; `synthetic` (BE03, BE07), `job_mix` (KH), `runtimes` (BE07 5), `batch` (DCS 4) and `replay`
(ER; logs) are the workloads. Each has `jobs(seed, replication, count)`.
"""
