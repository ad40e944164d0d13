"""Programs of many rules: all of one shape with other constants, or of many shapes with other types and windows."""

from __future__ import annotations

from benchmarks.workloads import EVENTS

SHAPES = (
    "r{i}(id) <- A(id, x) seq B(id, _) within {w} where x > {c}.",
    "r{i}(id) <- recent A(id, _) seq B(id, y) within {w} where y < {c}.",
    "r{i}(id) <- a: A(id, x), w: extend(a, {w}), while w: not B(id, _), x > {c}.",
    "r{i}(id, x) <- A(id, x) and C(id, y) within {w} where x + y > {c}.",
    "r{i}(id) <- A(id, _) seq B(id, _) seq C(id, z) within {w} where z > {c}.",
    "r{i}(id, s = sum(x)) <- while last {w}: collect B(id, x).",
    "r{i}(m = max(x)) <- while each {w}: collect C(_, x) where max(x) > {c}.",
    "r{i}(id) <- chronicle A(id, x) seq C(id, _) within {w} where x < {c}.",
    "r{i}(id, n = count(x)) <- cumulative B(id, x) seq C(id, _) within {w} where count(x) > {c}.",
    "r{i}(id) <- not C(id, _) in [A(id, x), B(id, _)] within {w} where x > {c}.",
)

KINDS = ("alike", "different")


def rules(kind: str, count: int) -> str:
    """A program of `count` rules that differ in a constant only (`alike`), or are `different`.

    >>> print(rules("alike", 2).splitlines()[-1])
    r1(id) <- A(id, x) seq B(id, _) within 10000 where x > 2.
    """
    if kind not in KINDS:
        raise ValueError(f"rules are {' or '.join(KINDS)}, not {kind!r}")
    lines = [_alike(i) if kind == "alike" else _different(i) for i in range(count)]
    return EVENTS + "\n".join(lines)


def _alike(i: int) -> str:
    return SHAPES[0].format(i=i, w=10_000, c=i + 1)


def _different(i: int) -> str:
    """Rules of each shape in turn; in the next round the types A, B, C change places."""
    line = SHAPES[i % len(SHAPES)].format(i=i, w=1_000 + 37 * i, c=i + 1)
    turn = i // len(SHAPES) % 3
    return line.translate(str.maketrans("ABC", "ABC"[turn:] + "ABC"[:turn]))
