"""Running: aggregates over members that are only added: each group is one state, and is dropped as a whole.

Aggregates that need all values (a list) keep these, a row each; nothing else is stored of a member. Where a value at a
rank is wanted, or the number of different ones, these rows are nodes of a tree (`structures/trees.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ensue.engine.generate.fields import SOURCE, Column, Env, Field
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.aggregates import Kept, add_member, collect_member, collection, kept, read_collected
from ensue.engine.operators.aggregations import State
from ensue.engine.operators.in_tree import Tree, read_tree
from ensue.engine.structure import Element
from ensue.engine.structures.groups import SOURCES, Groups, groups_layout
from ensue.engine.structures.trees import tree_rows, tree_slots
from ensue.language import typed


class Running:
    """The state of some aggregates in columns of a structure, and the collected values for those that need all."""

    def __init__(self, operator: Operator, wanted: Iterable[Field], source: bool, prefix: str) -> None:
        self.operator, self.unit, self.source, self.prefix = operator, operator.unit, source, prefix
        self.wanted = list(wanted)
        aggregates = [field[1] for field in self.wanted if isinstance(field[1], typed.Aggregate)]
        self.kept = [kept(each) for each in dict.fromkeys(aggregates)]
        self.states = {
            one: f"s{i}"
            for i, one in enumerate(self.kept)
            if not one.collects and (one.nested or one.aggregate.argument is not None)
        }
        self.scratch = {one: collection(self.unit, one) for one in self.kept if one.collects}
        in_cells = {
            kept(field[1]) for field in self.wanted if field[0] != "agg" and isinstance(field[1], typed.Aggregate)
        }
        self.trees = {
            one: f"t{i}" for i, one in enumerate(self.kept) if one.algorithm.slides == "tree" and one not in in_cells
        }
        self.pool = ""
        self.columns: dict[Field, Column] = {}

    def cells(self) -> dict[str, Element]:
        """The columns that hold it."""
        found: dict[str, Element] = {"members": "i64"}
        for one, name in self.states.items():
            found |= {f"{name}_{cell}": element for cell, element in one.algorithm.cells(one.kind).items()}
        if self.scratch:
            found |= {"values_first": "i64", "values_last": "i64"}
        for name in self.trees.values():
            found |= tree_slots(name)
        if self.source:
            found["source"] = "source"
        return {f"{self.prefix}{name}": element for name, element in found.items()}

    def state(self, one: Kept, g: str, at: str, place: str = "0") -> State:
        cells = {cell: f"{g}.{self.prefix}{self.states[one]}_{cell}[{at}]" for cell in one.cells}
        return State(self.unit, one.kind, cells, place)

    def add(self, w: Writer, g: str, at: str, env: Env, place: str) -> None:
        """Write code that adds the current member; `place` is its place in the order of members."""
        w.line(f"{g}.{self.prefix}members[{at}] += 1")
        for one in self.states:
            add_member(self.unit, w, one, self.state(one, g, at, place), env)
        if self.scratch:
            self._keep(w, g, at, env, place)
        if self.source:
            source = f"{g}.{self.prefix}source[{at}]"
            w.line(f"{source} = union({source}, {env[SOURCE].value})")

    def _keep(self, w: Writer, g: str, at: str, env: Env, place: str) -> None:
        """Write code that stores the values of a member."""
        unit, member = self.unit, Env()
        for one in self.scratch:
            if one.nested:
                member |= {field: env[field] for field in one.fields()}
            else:
                member["value", one.aggregate.argument, one.kind] = one.value(unit, w, env)
        self.columns = {field: Column(code.kind, code.valid != "True") for field, code in member.items()}
        rows: dict[str, Element] = {"place": "i64", **row_fields(self.columns)}
        for name in self.trees.values():
            rows |= tree_rows(f"{self.prefix}{name}")
        layout = groups_layout("", {}, rows)
        self.pool = p = self.operator.structure("values", Groups, layout, 0)
        for source in SOURCES:
            unit.use(source)
        row = w.let("row", f"take_row({p})")
        w.line(f"{p}.link[{row}] = 0")
        w.line(f"{p}.place[{row}] = {place}")
        write_row(w, p, row, self.columns, member)
        first, last = (f"{g}.{self.prefix}values_{which}[{at}]" for which in ("first", "last"))
        with w.block(f"if {last} == 0:"):
            w.line(f"{first} = {row}")
        with w.block("else:"):
            w.line(f"{p}.link[{last}] = {row}")
        w.line(f"{last} = {row}")
        for one in self.trees:
            tree = self._tree(one, g)
            tree.use(unit)
            with w.when(member["value", one.aggregate.argument, one.kind].valid):
                w.line(f"add_{tree.name}({p}, {at}, {row})")

    def _tree(self, one: Kept, g: str) -> Tree:
        column = f"{self.prefix}{self.trees[one]}"
        field: Field = ("value", one.aggregate.argument, one.kind)
        held = f"f{list(self.columns).index(field)}"
        return Tree(f"{self.pool}_{column}", column, held, self.columns[field].kind, self.pool, g)

    def clear(self, w: Writer, g: str, at: str) -> None:
        """Write code that frees stored values and resets the state."""
        if self.scratch:
            row = w.let("row", f"{g}.{self.prefix}values_first[{at}]")
            with w.block(f"while {row} != 0:"):
                after = w.let("after", f"{self.pool}.link[{row}]")
                w.line(f"free_row({self.pool}, {row})")
                w.line(f"{row} = {after}")
        for cell, element in self.cells().items():
            w.line(f"{g}.{cell}[{at}] = {'0.0' if element == 'f64' else '0'}")

    # --- results, of one state or of several together

    def local(self, w: Writer) -> tuple[str, dict[Kept, State]]:
        """Names for a count and states that others are merged into."""
        count = w.let("count", "0")
        for scratch in self.scratch.values():
            w.line(f"{scratch}.count = 0")
        return count, {
            one: State(self.unit, one.kind, {c: w.let(c, "0.0" if e == "f64" else "0") for c, e in one.cells.items()})
            for one in self.states
        }

    def merge(self, w: Writer, count: str, states: dict[Kept, State], g: str, at: str) -> None:
        """Write code that adds the state of one group to local ones."""
        w.line(f"{count} += {g}.{self.prefix}members[{at}]")
        for one, state in states.items():
            other = self.state(one, g, at)
            place = other.cells.get("at", "0")
            one.algorithm.merge(w, State(self.unit, one.kind, state.cells, place), other, "+")
        self.collect(w, g, at)

    def collect(self, w: Writer, g: str, at: str, trees: bool = True) -> None:
        """Write code that passes the stored values of a group to Python; with `trees` also those in trees."""
        wanted = {one: scratch for one, scratch in self.scratch.items() if trees or one not in self.trees}
        if not wanted:
            return
        row = w.let("row", f"{g}.{self.prefix}values_first[{at}]")
        with w.block(f"while {row} != 0:"):
            member = read_row(self.pool, row, self.columns)
            for one, scratch in wanted.items():
                collect_member(self.unit, w, one, scratch, member, f"{self.pool}.place[{row}]")
            w.line(f"{row} = {self.pool}.link[{row}]")

    def results(
        self, w: Writer, count: str, states: dict[Kept, State], in_trees: Mapping[Kept, Code] | None = None
    ) -> Env:
        """The results of states; values without an answer of a tree must have been collected."""
        found = Env()
        for field in self.wanted:
            aggregate = field[1]
            assert isinstance(aggregate, typed.Aggregate)
            one = kept(aggregate)
            if in_trees and one in in_trees:
                found[field] = in_trees[one]
            elif one in self.scratch:
                found[field] = read_collected(w, one, self.scratch[one], field)
            elif one not in self.states:
                found[field] = Code(count, "True", "i")
            elif field[0] == "agg":
                found[field] = one.algorithm.result(w, states[one])
            else:
                cell = str(field[2])
                found[field] = Code(states[one][cell], "True", one.kind_of_cell(cell))
        return found

    def read(self, w: Writer, g: str, at: str) -> Env:
        """The results of the aggregates of one group."""
        for scratch in self.scratch.values():
            w.line(f"{scratch}.count = 0")
        self.collect(w, g, at, trees=False)
        states = {one: self.state(one, g, at) for one in self.states}
        found = {one: read_tree(self.unit, w, one, self._tree(one, g), at) for one in self.trees}
        return self.results(w, f"{g}.{self.prefix}members[{at}]", states, found)
