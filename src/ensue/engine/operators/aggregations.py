"""Algorithms of aggregates over values that come and go: adding and removing a value, merging states, and the result.

Aggregates are records of the language (`language/aggregates.py`) that name their algorithm. A state is some cells,
integers and floats, that are all zero until a value is added: local names of a function, or columns of a row. Nulls are
never added. Algorithms that depend on the order of values use `State.at`, the place of the current value among those of
its match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Literal

from ensue.engine.generate.operator import ELEMENTS
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import NOTHING, Code, Writer
from ensue.engine.structure import Element
from ensue.engine.structures import sums
from ensue.engine.subset.source import source_of
from ensue.language import typed
from ensue.language.aggregates import AGGREGATES, Follows, Spread
from ensue.plan.operators import NotPlannedError
from ensue.records import dataclass

Slides = Literal["sums", "extreme", "ends", "tree", "all"]
"""Strategies for a moving window: values are added and removed; the best is at the front of a queue of those that no
later one beats; the first or the last is read; values are nodes of a sorted tree; or all values are collected again.
"""


@dataclass(frozen=True)
class State:
    """The cells of an aggregate as source, the kind of its values, and the place of the current value."""

    unit: Unit
    kind: str
    cells: Mapping[str, str]
    at: str = "0"

    def __getitem__(self, cell: str) -> str:
        return self.cells[cell]


Cells = dict[str, Element]


@dataclass(frozen=True)
class Algorithm:
    """Algorithm of an aggregate over values of a kind.

    `add` writes the adding of a value to a state, `merge` that of another state, and both also the removal where
    `slides` is ``sums``; `doubt` gives source that is true if a state has lost so much precision that it should be
    recomputed.
    """

    slides: Slides
    cells: Callable[[str], Cells]
    add: Callable[[Writer, State, str, str], None]
    merge: Callable[[Writer, State, State, str], None]
    result: Callable[[Writer, State], Code]
    doubt: Callable[[Writer, State, Code], str] | None = None
    larger: bool = False
    """True if it looks for the larger, or for the later, of two values."""


Kinds = Mapping[str, tuple[str, Algorithm]]
"""The stored kind and the algorithm, by the kind of values."""


def algorithm(aggregate: typed.Aggregate, kind: str) -> tuple[str, Algorithm]:
    """The kind in which an aggregate stores values of a kind, and its algorithm for them."""
    record = AGGREGATES[aggregate.name]
    if record.follows in ("rank", "distinct") and len(aggregate.path) > 1:
        return (kind, COLLECTED)  # members bring lists of their own members' values
    if record.follows == "moments":
        assert record.spread is not None
        moments = _moments_algorithm(record.spread)
        found: Kinds = _numbers(moments, moments, "f")
    else:
        found = ALGORITHMS[record.follows]
    if kind not in found:
        raise NotPlannedError(f"the aggregate {aggregate.name} of values of kind {kind}")
    return found[kind]


# --- counts, and sums of integers


def _change(w: Writer, cell: str, sign: str, by: str) -> None:
    w.line(f"{cell} = {cell} {sign} {by}")


def _count(w: Writer, s: State, _: str, sign: str) -> None:
    _change(w, s["n"], sign, "1")


def _merge_count(w: Writer, s: State, other: State, sign: str) -> None:
    _change(w, s["n"], sign, other["n"])


COUNT = Algorithm(
    "sums", lambda kind: {"n": "i64"}, _count, _merge_count, lambda w, s: Code(s["n"], "True", "i")
)  # fmt: skip


def _some(s: State) -> str:
    return f"({s['n']} > 0)"


def _add_whole(w: Writer, s: State, value: str, sign: str) -> None:
    _change(w, s["n"], sign, "1")
    w.line(f"{s['total']} = wrap({s['total']} {sign} {value})")


def _merge_whole(w: Writer, s: State, other: State, sign: str) -> None:
    _change(w, s["n"], sign, other["n"])
    w.line(f"{s['total']} = wrap({s['total']} {sign} {other['total']})")


WHOLE_SUM = Algorithm(
    "sums", lambda kind: {"n": "i64", "total": "i64"}, _add_whole, _merge_whole,
    lambda w, s: Code(s["total"], _some(s), "i"),
)  # fmt: skip


# --- sums of floats


def _float_cells(_: str) -> Cells:
    return {"n": "i64", "high": "f64", "low": "f64", "lost": "f64", "plus": "i64", "minus": "i64", "nans": "i64"}


def _add_pair(w: Writer, s: State, value: str, sign: str) -> None:
    s.unit.use(SUMS)
    parts = f"{s['high']}, {s['low']}, {s['lost']}"
    w.line(f"{parts} = add_pair({parts}, {'' if sign == '+' else '-'}{value})")


def _add_float(w: Writer, s: State, value: str, sign: str) -> None:
    _change(w, s["n"], sign, "1")
    with w.block(f"if {value} - {value} == 0.0:"):
        _add_pair(w, s, value, sign)
    with w.block(f"elif {value} != {value}:"):
        _change(w, s["nans"], sign, "1")
    with w.block(f"elif {value} > 0.0:"):
        _change(w, s["plus"], sign, "1")
    with w.block("else:"):
        _change(w, s["minus"], sign, "1")
    _end_empty(w, s, sign, ("high", "low", "lost"))


def _merge_float(w: Writer, s: State, other: State, sign: str) -> None:
    for cell in ("n", "plus", "minus", "nans"):
        _change(w, s[cell], sign, other[cell])
    _add_pair(w, s, other["high"], sign)
    _add_pair(w, s, other["low"], sign)
    w.line(f"{s['lost']} = {s['lost']} + {other['lost']}")
    _end_empty(w, s, sign, ("high", "low", "lost"))


def _end_empty(w: Writer, s: State, sign: str, cells: tuple[str, ...]) -> None:
    """Reset the sums to zero when no value is left, so that rounding errors end with it."""
    if sign == "-":
        with w.block(f"if {s['n']} == 0:"):
            for cell in cells:
                w.line(f"{s[cell]} = 0.0")


def _float_total(w: Writer, s: State) -> Code:
    s.unit.use(SUMS)
    cells = ", ".join(s[cell] for cell in ("high", "low", "plus", "minus", "nans"))
    return Code(w.let("x", f"pair_total({cells})"), _some(s), "f")


def _float_mean(w: Writer, s: State) -> Code:
    total = _float_total(w, s)
    return Code(w.let("x", f"{total.value} / float({s['n']}) if {s['n']} > 0 else 0.0"), _some(s), "f")


def _float_doubt(w: Writer, s: State, found: Code) -> str:
    finite = f"{s['high']} - {s['high']} == 0.0"
    return f"not ({finite} and {s['lost']} <= 1e-13 * abs({s['high']}))"


FLOAT_SUM = Algorithm("sums", _float_cells, _add_float, _merge_float, _float_total, _float_doubt)
MEAN = Algorithm("sums", _float_cells, _add_float, _merge_float, _float_mean, _float_doubt)


# --- aggregates of squared distances from the mean, as the standard deviation is


MOMENTS = ("first", "first_low", "second", "second_low")


def _moment_cells(_: str) -> Cells:
    sums: Cells = dict.fromkeys(MOMENTS, "f64")
    return {"n": "i64", "odd": "i64", "shift": "f64", "lost": "f64", **sums}


def _moments(s: State) -> str:
    return ", ".join(s[cell] for cell in MOMENTS)


def _add_moments(w: Writer, s: State, value: str, sign: str) -> None:
    s.unit.use(SUMS)
    with w.block(f"if {value} - {value} != 0.0:"):
        _change(w, s["odd"], sign, "1")
    with w.block("else:"):
        if sign == "+":
            with w.block(f"if {s['n']} == {s['odd']}:"):
                w.line(f"{s['shift']} = {value}")
        parts = f"{_moments(s)}, {s['lost']}"
        w.line(f"{parts} = add_moments({parts}, {s['shift']}, {value}, {sign}1.0)")
    _change(w, s["n"], sign, "1")
    _end_moments(w, s, sign)


def _end_moments(w: Writer, s: State, sign: str) -> None:
    if sign == "-":
        with w.block(f"if {s['n']} == {s['odd']}:"):
            for cell in ("lost", *MOMENTS):
                w.line(f"{s[cell]} = 0.0")


def _merge_moments(w: Writer, s: State, other: State, sign: str) -> None:
    s.unit.use(SUMS)
    with w.block(f"if {other['n']} > {other['odd']}:"):
        if sign == "+":
            with w.block(f"if {s['n']} == {s['odd']}:"):
                w.line(f"{s['shift']} = {other['shift']}")
        names = [w.fresh("m") for _ in MOMENTS]
        count = f"float({other['n']} - {other['odd']})"
        w.line(f"{', '.join(names)} = shift_moments({_moments(other)}, {count}, {other['shift']} - {s['shift']})")
        minus = "" if sign == "+" else "-"
        gone = w.let("gone", "0.0")
        for high, low, (one, two) in (("first", "first_low", names[:2]), ("second", "second_low", names[2:])):
            for each in (one, two):
                w.line(f"{s[high]}, {s[low]}, {gone} = add_pair({s[high]}, {s[low]}, {gone}, {minus}{each})")
        w.line(f"{s['lost']} = {s['lost']} + {other['lost']} + {gone} + abs({names[2]}) * 1e-30")
    _change(w, s["odd"], sign, other["odd"])
    _change(w, s["n"], sign, other["n"])
    _end_moments(w, s, sign)


@dataclass(frozen=True)
class OfSquares(Code):
    """An aggregate that is computed from a sum of squared distances."""

    squares: str = "0.0"


def _spread_result(w: Writer, s: State, spread: Spread) -> Code:
    s.unit.use(SUMS)
    s.unit.use(source_of(spread))
    found, squares = w.let("x", "0.0"), w.let("squares", "0.0")
    with w.block(f"if {s['odd']} > 0:"):
        w.line(f"{found} = 1e999 - 1e999")
    with w.block(f"elif {s['n']} > 1:"):
        w.line(f"{squares} = squares_about({_moments(s)}, {s['shift']}, float({s['n']}))")
        w.line(f"{found} = {spread.__name__}({squares}, float({s['n']}))")
    return OfSquares(found, f"({s['n']} > 1)", "f", squares)


def _moment_doubt(w: Writer, s: State, found: Code) -> str:
    assert isinstance(found, OfSquares)
    cells = f"{s['first']}, {s['second']}, {s['lost']}, {s['shift']}"
    return f"{s['n']} > 1 and {s['odd']} == 0 and squares_doubtful({cells}, float({s['n']}), {found.squares})"


@cache
def _moments_algorithm(spread: Spread) -> Algorithm:
    def result(w: Writer, s: State) -> Code:
        return _spread_result(w, s, spread)

    return Algorithm("sums", _moment_cells, _add_moments, _merge_moments, result, _moment_doubt)


# --- the best, the first, the last


def smaller(one: str, other: str, larger: bool, kind: str) -> str:
    """Source that is true if a value comes before another (or after it); NaN comes last."""
    if larger:
        one, other = other, one
    match kind:
        case "f":
            return f"({one} < {other} or ({one} == {one} and {other} != {other}))"
        case "s":
            return f"(text_order(values, {one}, {other}) < 0)"
        case "o":
            return f"(rank_order(values, {one}, {other}) < 0)"
        case _:
            return f"({one} < {other})"


def _one_cells(kind: str) -> Cells:
    return {"n": "i64", "best": ELEMENTS[kind], "at": "i64"}


def _chosen(w: Writer, s: State) -> Code:
    return Code(f"({s['best']} != 0)" if s.kind == "b" else s["best"], _some(s), s.kind)


def _one(slides: Slides, larger: bool, better: Callable[[State, str], str]) -> Algorithm:
    """An aggregate that is one of the values: a better one replaces the current one."""

    def add(w: Writer, s: State, value: str, sign: str) -> None:
        assert sign == "+"
        with w.block(f"if {s['n']} == 0 or {better(s, value)}:"):
            w.line(f"{s['best']} = {value}")
            w.line(f"{s['at']} = {s.at}")
        _change(w, s["n"], "+", "1")

    def merge(w: Writer, s: State, other: State, sign: str) -> None:
        with w.block(f"if {other['n']} > 0:"):
            add(w, s, other["best"], sign)
            _change(w, s["n"], "+", f"({other['n']} - 1)")

    return Algorithm(slides, _one_cells, add, merge, _chosen, larger=larger)


def _extreme(larger: bool) -> Algorithm:
    def better(s: State, value: str) -> str:
        found = smaller(value, s["best"], larger, s.kind)
        if s.kind == "o":  # the first of equal values (1 and 1.0)
            same = f"rank_order(values, {value}, {s['best']}) == 0"
            found = f"({found} or ({s.at} < {s['at']} and {same}))"
        return found

    return _one("extreme", larger, better)


def _end(last: bool) -> Algorithm:
    return _one("ends", last, lambda s, _: f"{s.at} {'>=' if last else '<'} {s['at']}")


# --- all values


def _collected_only(*_: object) -> None:
    raise AssertionError("values that are collected have no state of their own")


COLLECTED = Algorithm(
    "all", lambda kind: {"n": "i64", "held": "code"}, _collected_only, _collected_only,
    lambda w, s: Code(NOTHING["o"], "False", "o")
)  # fmt: skip
"""All values, from which Python computes an aggregate. The state is a flag that there are any, and a list of them."""


IN_TREE = replace(COLLECTED, slides="tree")
"""Values in a tree where a window moves, and collected elsewhere."""


SUMS = source_of(sums)


def _any(one: Algorithm) -> dict[str, tuple[str, Algorithm]]:
    return {kind: (kind, one) for kind in "ifbso"}


def _numbers(one: Algorithm, other: Algorithm, held: str) -> dict[str, tuple[str, Algorithm]]:
    return {"i": (held, one), "f": ("f", other), "o": ("o", COLLECTED)}


ALGORITHMS: dict[Follows, Kinds] = {
    "count": _any(COUNT),
    "sum": _numbers(WHOLE_SUM, FLOAT_SUM, "i"),
    "mean": _numbers(MEAN, MEAN, "f"),
    "least": _any(_extreme(larger=False)),
    "greatest": _any(_extreme(larger=True)),
    "first": _any(_end(last=False)),
    "last": _any(_end(last=True)),
    "distinct": _any(IN_TREE),
    "rank": {"i": ("f", IN_TREE), "f": ("f", IN_TREE), "o": ("o", COLLECTED)},
    "all": _any(COLLECTED),
}
"""Algorithms by name; ``moments`` has an algorithm for each function of the spread."""
