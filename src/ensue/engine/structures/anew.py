"""Matches of a pattern that is matched again for each match, and the way to find them; see `operators/anew.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ensue.engine.structure import Array, Element, Frame, Layout, Structure, row_columns
from ensue.engine.structures.seen import Seen
from ensue.engine.structures.sources import inputs_of
from ensue.records import dataclass

FIRST_ROWS = 16

LASTING = frozenset({"values", "kinds", "numbers", "clock", "given", "outside"})
"""The structures of a unit that are not reset."""


def found_layout(outside: int, fields: dict[str, Element]) -> Layout:
    """Cells for the values of outer names with their flags; and rows with these fields."""
    cells = [f"{letter}{number}" for number in range(outside) for letter in ("v", "ok")]
    return Layout(("count", *cells), row_columns("rows", fields, cell="cell"))


class Found(Structure):
    """Found rows. `code` is the unit of the pattern, where they are in `rows`."""

    keeps = False

    def __init__(self, frame: Frame, base: int, code: Any, rows: str) -> None:
        super().__init__(frame, base)
        self.code, self.rows_inside = code, rows
        self.lane: Any = None
        self.put("rows", np.zeros((FIRST_ROWS, self.layout.column("start").width), np.int64))

    def forget(self) -> None:
        """Drop remembered answers about values."""
        self.lane = None


class Question:
    """Answers with the matches among some events."""

    def arrive(self, lane: Any, inside: Any) -> list[int]:
        """Put events, in order, where the pattern's unit reads them; returns their sources."""
        raise NotImplementedError

    def until(self, lane: Any) -> int:
        """The time up to which the pattern's unit runs."""
        found: int = lane.clock_.now
        return found

    def answer(self, lane: Any, found: Found, _: int) -> int:
        """Run the events through the unit of the pattern."""
        inside = found.lane
        if inside is None or inside._fast != lane._fast:
            compiled = bool(lane._fast)
            made = type(lane)(
                lane.program, found.code, lane.knowledge, lane.clock, compiled, lane.values, lane.frame.capacity
            )  # fmt: skip
            inside = found.lane = made
        _empty(inside)
        for name in inside.structures["outside"].layout.numbers if "outside" in inside.structures else ():
            setattr(inside.structures["outside"], name, getattr(found, name))
        sources, time = self.arrive(lane, inside), self.until(lane)
        inside._set_first()
        inside._check_periods(time)
        inside.clock_.until = time
        inside._functions["run"]()
        if inside.clock_.failed:
            inside._fail()
        rows = inside.structures[found.rows_inside]
        found.count = rows.count
        found.put("rows", rows.arrays["rows"])
        if lane.code.unit.provenance:
            for column in found.columns_with("source"):
                for i, handle in enumerate(column[: found.count].tolist()):
                    column[i] = _translated(lane.origins, inside.origins, handle, sources)
        return 0


@dataclass(frozen=True)
class Kept(Question):
    """The stored events, by type: their structures, and the fields of their rows."""

    rows: Mapping[str, str]
    columns: Mapping[str, Mapping[Any, Any]]

    def arrive(self, lane: Any, inside: Any) -> list[int]:
        unit, given = inside.code.unit, inside.given
        tables = {event: lane.structures[name] for event, name in self.rows.items()}
        counts = [table.count for table in tables.values()]
        total = sum(counts)
        columns: dict[str, Array] = {name: np.zeros(total, np.int64) for name in ("start", "end", "k", "source")}
        columns["kind"] = np.zeros(total, np.int32)
        for index, kind in unit.inputs.values():
            columns[f"x{index}"] = np.zeros(total, np.float64 if kind == "f" else np.int64)
            columns[f"ok{index}"] = np.zeros(total, np.uint8)
        at = 0
        for (event, table), count in zip(tables.items(), counts, strict=True):
            own = slice(at, at + count)
            at += count
            columns["kind"][own] = inside.all_ranks[event]
            for name in ("start", "end"):
                columns[name][own] = _column(table, name, count)
            for number, (field, column) in enumerate(self.columns[event].items()):
                held, flags = _column(table, f"f{number}", count), np.ones(count, np.uint8)
                if column.nullable:
                    flags = _column(table, f"f_valid{number // 63 or ''}", count) >> (number % 63) & 1
                match field:
                    case ("attr", _, name):
                        index, kind = unit.inputs[event, name]
                        columns[f"x{index}"][own] = held.view(np.float64) if kind == "f" else held
                        columns[f"ok{index}"][own] = flags
                    case ("part", _, "k"):
                        columns["k"][own] = held
                    case ("source",):
                        columns["source"][own] = held
        order = np.lexsort((columns["k"], columns["start"], columns["end"]))
        sources: list[int] = columns["source"][order].tolist()
        for name, array in columns.items():
            given.put(name, np.ascontiguousarray(array[order]))
        if lane.code.unit.provenance:
            given.put("source", 2 * np.arange(total) + 1)
        given.rows, given.at, given.sequenced = total, 0, 1
        return sources


@dataclass(frozen=True)
class Ahead(Question):
    """All events that the outer unit runs with; `inputs` are the numbers of its columns, by type and attribute."""

    inputs: Mapping[tuple[str, str], int]

    def until(self, lane: Any) -> int:
        found: int = lane.clock_.until
        return found

    def arrive(self, lane: Any, inside: Any) -> list[int]:
        around, given = lane.given.arrays, inside.given
        for name in ("kind", "start", "end", "k", "source"):
            given.put(name, around[name])
        for field, (index, _) in inside.code.unit.inputs.items():
            for letter in ("x", "ok"):
                given.put(f"{letter}{index}", around[f"{letter}{self.inputs[field]}"])
        sources: list[int] = around["source"].tolist()
        if lane.code.unit.provenance:
            given.put("source", 2 * np.arange(lane.given.rows) + 1)
        given.rows, given.at, given.sequenced = lane.given.rows, 0, 1
        return sources


def _column(table: Any, name: str, count: int) -> Array:
    found: Array = np.ascontiguousarray(table.arrays["rows"][:count, table.layout.column(name).place])
    return found


def _empty(lane: Any) -> None:
    """Reset the state of a unit."""
    for name, spec in lane.code.unit.structures.items():
        structure = lane.structures[name]
        if isinstance(structure, Seen):
            structure.forget()
        elif name not in LASTING and not hasattr(structure, "forget"):
            structure.begin_anew(*spec.arguments)
    lane._set_constants()
    clock = lane.clock_
    clock.now, clock.due, clock.failed = -(2**62), 2**62, 0


def _translated(origins: Any, inside: Any, handle: int, sources: list[int]) -> int:
    """The handle of the inputs from which the events in a set came."""
    found = 0
    for position in sorted(inputs_of(inside, handle)):
        found = origins.add(found, sources[position])
    return found
