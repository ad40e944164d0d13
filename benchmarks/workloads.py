"""The workloads: seven rule programs over two streams, with the number of detections that each must give.

Time is the column `ts`. The count is the number of pairs; W5 and W6 emit an aggregate for each pair, of which two may
be equal, and equal events are one, so there the pairs are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

MILLION, HUNDRED_THOUSAND = (1_000_000, 10_000), (100_000, 1_000)
"""Streams whose detections are known: events and keys."""

EVENTS = "event A(id: int, x: float).  event B(id: int, x: float).  event C(id: int, x: float).\n"
STOCK = "event tick(sym: int, price: float).\n"


@dataclass(frozen=True)
class Workload:
    """`known` has the detections in a million and in a hundred thousand events.

    `fastest_peer` and its thousands of events per CPU-second, `recorded`, come from a comparison made before Ensue was
    begun, in which also Esper, Flink and ETALIS took part; see README.md in this folder.
    """

    name: str
    title: str
    rules: str
    known: tuple[int, int]
    fastest_peer: str
    recorded: int
    counted: str
    stream: str = "events"
    runs_on: int = 0
    """Length of time that passes after the last event."""

    def expected(self, n: int, keys: int) -> int | None:
        return dict(zip((MILLION, HUNDRED_THOUSAND), self.known, strict=True)).get((n, keys))

    def until(self, n: int) -> int:
        """The end of time on `n` events, which are one millisecond apart and begin at 0."""
        return n - 1 + self.runs_on


_ALL = (
    Workload(
        "w1",
        "all pairs",
        EVENTS + "w1(id) <- A(id, _) seq B(id, _) within 10000.",
        (110_452, 105_434),
        "Polars",
        2_700,
        counted="w1",
    ),
    Workload(
        "w2",
        "all triples",
        EVENTS + "w2(id, mid = b.start) <- A(id, _) seq b: B(id, _) seq C(id, _) within 10000.",
        (18_594, 175_483),
        "Esper",
        1_450,
        counted="w2",
    ),
    Workload(
        "w3",
        "absence",
        EVENTS + "w3(id) <- a: A(id, _), w: extend(a, 10001), while w: not B(id, _).",
        (238_913, 2_061),
        "DuckDB",
        4_000,
        counted="w3",
        runs_on=10_001,
    ),
    Workload(
        "w4",
        "recent, consumed",
        EVENTS + "w4(id) <- recent A(id, _) seq B(id, _) within 10000.",
        (80_696, 16_328),
        "Polars",
        5_500,
        counted="w4",
    ),
    Workload(
        "w5",
        "moving sum over a conjunction",
        EVENTS
        + """pair(id, x, other = b.x) <- A(id, x) and b: B(id, _) within 10000.
w5(s = sum(x)) <- while last 1000: collect pair(_, x, _).""",
        (221_017, 209_642),
        "Esper",
        1_050,
        counted="pair",
    ),
    Workload(
        "w6",
        "moving average over a sequence",
        EVENTS
        + """follow(id, x) <- A(id, x) seq B(id, _) within 10000.
w6(m = avg(x)) <- while last 1000: collect follow(_, x).""",
        (110_452, 105_434),
        "Esper",
        1_900,
        counted="follow",
    ),
    Workload(
        "w7",
        "iteration: a falling run that turns",
        STOCK
        + """turn(sym, top = p, n = 1) <- not tick(sym, _) in [tick(sym, q), tick(sym, p)] where p >= q.
fall(sym, top, low = p, n = 2) <- not tick(sym, _) in [turn(sym, top, _), tick(sym, p)] where p < top.
fall(sym, top, low = p, n = m + 1) <- not tick(sym, _) in [fall(sym, top, q, m), tick(sym, p)] where p < q.
w7(sym) <- not tick(sym, _) in [fall(sym, top, _, m), tick(sym, p)] where p > top and m >= 3.""",
        (16_436, 1_658),
        "Esper",
        3_900,
        counted="w7",
        stream="stock",
    ),
)

WORKLOADS = {workload.name: workload for workload in _ALL}
