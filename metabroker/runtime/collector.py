"""Python's collector of reference cycles, and why it need not look at jobs.

While it looks at all objects nothing else runs: with 100,000 jobs a tenth of a second and more, and
again and again while they are loaded. Jobs and what is kept of them are in no cycles, and go when
nobody refers to them any more. So what there is after a start, what is learned of them soon after
it, and what there is whenever there are twice as many jobs, is set apart (`gc.freeze`): the
collector does not look at it again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_FEW = 10_000  # jobs that are looked at in some milliseconds


class Collector:
    """When jobs are set apart. `jobs`: how many may be there before that is done again."""

    def __init__(self) -> None:
        self.jobs = _FEW

    @contextmanager
    def loading(self) -> Iterator[None]:
        """It looks at nothing while jobs are loaded, and not at those then."""
        gc.disable()
        try:
            yield
        finally:
            gc.freeze()
            gc.enable()

    @staticmethod
    def learned() -> None:
        """What is kept of each job besides, since the start, is there too."""
        gc.collect(0)  # what is garbage by now would stay
        gc.freeze()

    def there_are(self, jobs: int) -> None:
        """So many jobs have not ended."""
        if jobs > self.jobs:
            gc.freeze()
            self.jobs = 2 * jobs
