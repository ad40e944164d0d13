"""Options of a run of the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.streams import usual_keys
from benchmarks.workloads import WORKLOADS, Workload


@dataclass(frozen=True)
class Options:
    """`only` are names of workloads, `contestants` those that are measured beside the recorded figures."""

    only: tuple[str, ...] = tuple(WORKLOADS)
    contestants: tuple[str, ...] = ("ensue", "duckdb", "polars")
    events: int = 1_000_000
    keys: int | None = None
    runs: int = 5
    stream: int = 100_000_000
    """Number of events of the stream that must pass in flat memory."""
    spark: int = 10_000_000
    """Number of events of the streams on Spark; they have as many keys as the shorter ones."""
    network: int = 10_000
    """Number of events of the streams on which optimisations are switched off, and rules are not compiled."""
    sends: int = 8_000
    """Number of single events that are timed."""
    live: tuple[int, ...] = (10_000, 1_000_000)
    """Numbers of keys with live state meanwhile."""

    @property
    def of_keys(self) -> int:
        return self.keys or usual_keys(self.events)

    def workloads(self, among: tuple[str, ...] = tuple(WORKLOADS)) -> Iterator[Workload]:
        """The workloads that are wanted, of those that a benchmark is about."""
        return (WORKLOADS[name] for name in among if name in self.only)
