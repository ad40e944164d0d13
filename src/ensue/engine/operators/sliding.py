"""Sliding: groups of members that come and go, with aggregates over the present ones, kept up to date.

The cost of a member does not depend on their number. Counts and sums are updated by addition and subtraction; the
rounding error is bounded (`structures/sums.py`), and where it could be visible a sum is recomputed. The smallest and
largest are at the front of a queue of those that are not beaten by one that stays longer, the first and last at the
ends of a queue of all that are not null. For a value at a rank, or the number of different ones, values are nodes of a
tree (`structures/trees.py`). Aggregates that need all values (a list) visit each. State: the present members, in one
row each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.writer import NOTHING, Code, Writer
from ensue.engine.kinds import kind_of
from ensue.engine.operators.aggregates import Kept, add_member, collect_member, collection, kept, read_collected
from ensue.engine.operators.aggregations import State, smaller
from ensue.engine.operators.in_tree import Tree, read_tree
from ensue.engine.operators.keys import group_parts
from ensue.engine.structure import Element
from ensue.engine.structures.groups import SOURCES, Groups, groups_layout
from ensue.engine.structures.queues import in_order_of_arrival, queue_rows, queue_slots, unbeaten
from ensue.engine.structures.trees import tree_rows, tree_slots
from ensue.language import typed

ALL = "all"
"""The queue of all members in the order of arrival."""


def value_field(one: Kept) -> Field:
    """The field of a member's value for an aggregate: of its argument, or the result of a nested aggregate."""
    return ("value", one.aggregate if one.nested else one.aggregate.argument, one.kind)


def group_key(w: Writer, codes: Sequence[Code]) -> list[str]:
    """Names for the parts of a group's key: null is a value like others."""
    return [w.let("key", part) for part in group_parts(codes)]


def group_kinds(codes: Sequence[Code]) -> str:
    """The kinds of these parts: s for codes of values, i for others."""
    return "".join(("s" if code.kind in "so" else "i") + ("i" if code.valid != "True" else "") for code in codes)


class Sliding:
    """Groups of members; see the module. With `by_start` members leave by their start, not in the order of arrival."""

    def __init__(self, operator: Operator, wanted: Iterable[Field], by_start: bool, starts: bool) -> None:
        self.operator, self.unit, self.by_start, self.starts = operator, operator.unit, by_start, starts
        self.name = self.unit.fresh("members")
        self.wanted = list(wanted)
        self.columns: dict[Field, Column] = {}
        self.groups = ""
        self.some: dict[Field, str] = {}
        """Queues of members that are not null, by the field of the value."""
        self.best: dict[tuple[Field, bool], str] = {}
        self.trees: dict[Field, str] = {}
        """Trees of members that are not null, by the field of the value."""
        self.sums: dict[Kept, str] = {}
        self.scratch: dict[Kept, str] = {}
        self.least_start = ""

    # --- members

    def member(self, w: Writer, env: Env, extra: Iterable[Field]) -> Env:
        """The stored fields of the current member: values of aggregates, and others."""
        found = Env({START: env[START]})
        for one in self._kept():
            for field in self._fields(one):
                if field[0] != "value":
                    found[field] = env[field]
                elif field not in found:
                    code = one.value(self.unit, w, env) if not one.nested else self._nested(one, env)
                    found[field] = w.held(code)
        for field in extra:
            found[field] = env[field]
        return found

    def _kept(self) -> list[Kept]:
        aggregates = [field[1] for field in self.wanted if isinstance(field[1], typed.Aggregate)]
        return [kept(each) for each in dict.fromkeys(aggregates)]

    def _fields(self, one: Kept) -> list[Field]:
        if one.nested and one.algorithm.slides in ("sums", "all"):
            return one.fields()
        return [] if one.aggregate.argument is None else [value_field(one)]

    def _nested(self, one: Kept, env: Env) -> Code:
        n, best = (env["cell", one.inner, cell].value for cell in ("n", "best"))
        return Code(best, f"({n} > 0)", "i" if one.kind == "b" else one.kind)

    # --- the structure

    def lay_out(self, kinds: str, member: Env, slots: dict[str, Element], rows: dict[str, Element]) -> str:
        """The structure, for keys of such kinds, members such as the current one, and more columns."""
        unit = self.unit
        for source in SOURCES:
            unit.use(source)
        for field, code in member.items():
            if field != START:
                self.columns[field] = Column(code.kind, code.valid != "True")
        rows = {**rows, "start": "i64", **queue_rows(ALL), **row_fields(self.columns)}
        slots = {**slots, **queue_slots(ALL)}
        unit.use(in_order_of_arrival(ALL))
        for one in self._kept():
            match one.algorithm.slides:
                case "sums":
                    if one.nested or one.aggregate.argument is not None:
                        self.sums[one] = prefix = f"s{len(self.sums)}"
                        slots |= {
                            f"{prefix}_{cell}": element for cell, element in one.algorithm.cells(one.kind).items()
                        }
                case "extreme":
                    self._add_best(value_field(one), one.algorithm.larger, slots, rows)
                case "tree" if value_field(one) not in self.trees:
                    self._add_tree(value_field(one), slots, rows)
                case "ends" if self.columns[value_field(one)].nullable and value_field(one) not in self.some:
                    self.some[value_field(one)] = name = f"some_{self._held(value_field(one))}"
                    unit.use(in_order_of_arrival(name))
                    slots |= queue_slots(name)
                    rows |= queue_rows(name)
        if self.starts:
            self._add_best(START, False, slots, rows)
            self.least_start = self.best[START, False]
        self.groups = self.operator.structure("members", Groups, groups_layout(kinds, slots, rows), len(kinds))
        for field in self.trees:
            self._tree(field).use(unit)
        return self.groups

    def _add_best(self, field: Field, larger: bool, slots: dict[str, Element], rows: dict[str, Element]) -> None:
        if (field, larger) in self.best:
            return
        held, kind = self._held(field), "i" if field == START else self.columns[field].kind
        # columns have names by their purpose, not numbers of the unit: a state outlives the rules beside it
        name = f"{'greatest' if larger else 'least'}_{held}_{kind}{'_by_start' if self.by_start else ''}"
        self.best[field, larger] = name
        one, other = f"groups.{held}[one]", f"groups.{held}[other]"
        # the first of equal values of any type (1 and 1.0) stays
        beats = smaller(one, other, larger, kind) if kind == "o" else f"not {smaller(other, one, larger, kind)}"
        self.unit.use(unbeaten(name, beats, self.by_start))
        slots |= queue_slots(name)
        rows |= queue_rows(name)

    def _add_tree(self, field: Field, slots: dict[str, Element], rows: dict[str, Element]) -> None:
        held, kind = self._held(field), self.columns[field].kind
        self.trees[field] = name = f"tree_{held}_{kind}"
        slots |= tree_slots(name)
        rows |= tree_rows(name)

    def _tree(self, field: Field) -> Tree:
        name = self.trees[field]
        return Tree(name, name, self._held(field), self.columns[field].kind, self.groups, self.groups)

    def _held(self, field: Field) -> str:
        """The column that holds a field."""
        return "start" if field == START else f"f{list(self.columns).index(field)}"

    def read(self, row: str) -> Env:
        found = read_row(self.groups, row, self.columns)
        found[START] = Code(f"{self.groups}.start[{row}]", "True", "i")
        return found

    # --- members come and go

    def enter(self, w: Writer, at: str, member: Env) -> str:
        """Write code that adds a member to a group; returns its row."""
        g = self.groups
        row = w.let("row", f"take_row({g})")
        w.line(f"{g}.start[{row}] = {member[START].value}")
        write_row(w, g, row, self.columns, member)
        w.line(f"push_{ALL}({g}, {at}, {row})")
        w.line(f"{g}.count[{at}] += 1")
        for field, name in self.some.items():
            with w.when(member[field].valid):
                w.line(f"push_{name}({g}, {at}, {row})")
        for (field, _), name in self.best.items():
            with w.when(member[field].valid):
                w.line(f"enter_{name}({g}, {at}, {row})")
        for field, name in self.trees.items():
            with w.when(member[field].valid):
                w.line(f"add_{name}({g}, {at}, {row})")
        for one in self.sums:
            add_member(self.unit, w, one, self.state(one, at), member)
        return row

    def write_leave(self) -> None:
        """Write ``leave_x(at, row)``, which removes a member from its group."""
        w, g = Writer(), self.groups
        member = self.read("row")
        w.line(f"drop_{ALL}({g}, at, row)")
        w.line(f"{g}.count[at] -= 1")
        for field, name in self.some.items():
            with w.when(member[field].valid):
                w.line(f"drop_{name}({g}, at, row)")
        for (field, _), name in self.best.items():
            with w.when(member[field].valid):
                w.line(f"leave_{name}({g}, at, row)")
        for field, name in self.trees.items():
            with w.when(member[field].valid):
                w.line(f"remove_{name}({g}, at, row)")
        for one in self.sums:
            add_member(self.unit, w, one, self.state(one, "at"), member, "-")
        w.line(f"free_row({g}, row)")
        self.unit.function(f"leave_{self.name}", ["at: int", "row: int"], w)
        for one in self.sums:
            if one.algorithm.doubt is not None:
                self._write_anew(one)

    def state(self, one: Kept, at: str) -> State:
        prefix = self.sums[one]
        return State(self.unit, one.kind, {cell: f"{self.groups}.{prefix}_{cell}[{at}]" for cell in one.cells})

    def _write_anew(self, one: Kept) -> None:
        """Write the function that sums all members of a group again."""
        w, g = Writer(), self.groups
        state = self.state(one, "at")
        for cell, element in one.cells.items():
            w.line(f"{state[cell]} = {'0.0' if element == 'f64' else '0'}")
        w.line(f"row = {g}.{ALL}_first[at]")
        with w.block("while row != 0:"):
            add_member(self.unit, w, one, state, self.read("row"))
            w.line(f"row = {g}.{ALL}_next[row]")
        self.unit.function(f"rarely_anew_{self.name}_{self.sums[one]}", ["at: int"], w)

    # --- results

    def first_start(self, at: str) -> str:
        """Source for the smallest start of a group's members, if there are any."""
        queue = self.least_start or ALL
        return f"{self.groups}.start[{self.groups}.{queue}_first[{at}]]"

    def results(self, w: Writer, at: str) -> Env:
        """The results of the aggregates of a group."""
        found, done, sure = Env(), dict[Kept, Code](), set[Kept]()
        for field in self.wanted:
            aggregate = field[1]
            assert isinstance(aggregate, typed.Aggregate)
            one = kept(aggregate)
            if field[0] == "cell":
                if one in self.sums and one not in sure and one.algorithm.doubt is not None:
                    sure.add(one)
                    state = self.state(one, at)
                    with w.block(f"if {one.algorithm.doubt(w, state, one.algorithm.result(w, state))}:"):
                        w.line(f"rarely_anew_{self.name}_{self.sums[one]}({at})")
                found[field] = self._cell(w, one, at, field)
            elif field[0] == "list":
                found[field] = self._collected(w, one, at, field)
            else:
                if one not in done:
                    done[one] = self._result(w, one, at)
                found[field] = done[one]
        return found

    def _result(self, w: Writer, one: Kept, at: str) -> Code:
        match one.algorithm.slides:
            case "sums" if one in self.sums:
                return self._sum(w, one, at)
            case "sums":
                return Code(f"{self.groups}.count[{at}]", "True", "i")
            case "tree":
                return read_tree(self.unit, w, one, self._tree(value_field(one)), at)
            case "all":
                return self._collected(w, one, at, ("agg", one.aggregate))
            case _:
                row = w.let("row", self._row(one, at))
                field = value_field(one)
                code = w.held(self.read(row)[field])
                there = f"({row} != 0)"
                kind = kind_of(one.aggregate.type)
                return Code(f"({code.value} != 0)" if kind == "b" else code.value, there, kind)

    def _row(self, one: Kept, at: str) -> str:
        """Source for the row of the best, first or last value of a group; 0 if there is none."""
        field, larger = value_field(one), one.algorithm.larger
        if one.algorithm.slides == "extreme":
            return f"{self.groups}.{self.best[field, larger]}_first[{at}]"
        return f"{self.groups}.{self.some.get(field, ALL)}_{'last' if larger else 'first'}[{at}]"

    def _sum(self, w: Writer, one: Kept, at: str) -> Code:
        state = self.state(one, at)
        found = one.algorithm.result(w, state)
        if one.algorithm.doubt is None:
            return found
        value, there = w.let("x", found.value), w.let("ok", found.valid)
        with w.block(f"if {one.algorithm.doubt(w, state, found)}:"):
            w.line(f"rarely_anew_{self.name}_{self.sums[one]}({at})")
            again = one.algorithm.result(w, state)
            w.line(f"{value} = {again.value}")
            with w.block(f"if {one.algorithm.doubt(w, state, again)}:"):
                if one.nested:
                    w.line(f"{there} = {again.valid}")
                else:
                    self._write_exact(w, one, at, value, there)
        return Code(value, there, found.kind)

    def _sum_with(self, w: Writer, one: Kept, at: str, state: State, own: Env) -> Code:
        """The result of a copy of a state to which another member was added."""
        found = one.algorithm.result(w, state)
        if one.algorithm.doubt is None or one.nested:
            return found
        value, there = w.let("x", found.value), w.let("ok", found.valid)
        with w.block(f"if {one.algorithm.doubt(w, state, found)}:"):
            self._write_exact(w, one, at, value, there, own)
        return Code(value, there, found.kind)

    def _write_exact(self, w: Writer, one: Kept, at: str, value: str, there: str, own: Env | None = None) -> None:
        """Write code that sets a result, and a flag that there is one, to those that Python computes."""
        exact = self._collected(w, one, at, ("agg", one.aggregate), own)
        w.line(f"{value} = {exact.value}")
        w.line(f"{there} = {exact.valid}")

    def _collected(self, w: Writer, one: Kept, at: str, field: Field, own: Env | None = None) -> Code:
        """The result that Python computes from all values of a group, and of another member."""
        scratch = self.scratch.get(one)
        if scratch is None:
            scratch = self.scratch[one] = collection(self.unit, one)
        w.line(f"{scratch}.count = 0")
        row = w.let("row", f"{self.groups}.{ALL}_first[{at}]")
        with w.block(f"while {row} != 0:"):
            place = "0" if own is None else f"(-1 if {self.groups}.end[{row}] < clock.now else 1)"
            collect_member(self.unit, w, one, scratch, self.read(row), place)
            w.line(f"{row} = {self.groups}.{ALL}_next[{row}]")
        if own is not None:
            collect_member(self.unit, w, one, scratch, own)
        return read_collected(w, one, scratch, field)

    def _cell(self, w: Writer, one: Kept, at: str, field: Field) -> Code:
        """A cell of the state of an aggregate over a group's members."""
        cell = str(field[2])
        kind = one.kind_of_cell(cell)
        match one.algorithm.slides:
            case "sums" if one in self.sums:
                return Code(w.let("x", self.state(one, at)[cell]), "True", kind)
            case "sums":
                return Code(f"{self.groups}.count[{at}]", "True", "i")
            case "tree" | "all":
                return self._collected(w, one, at, field)
        row = w.let("row", self._row(one, at))
        if cell == "best":
            value = self.read(row)[value_field(one)].value
            return Code(w.let("x", f"{value} if {row} != 0 else {NOTHING[kind]}"), "True", kind)
        return Code(f"(1 if {row} != 0 else 0)" if cell == "n" else "0", "True", "i")

    def with_another(self, w: Writer, at: str, own: Env) -> Env:
        """The results of a group's aggregates with another member, which ends now and begins before all the others.

        It comes after those that ended before, and before those that end now.
        """
        g, found = self.groups, Env()
        states: dict[Kept, State] = {}
        for field in self.wanted:
            aggregate = field[1]
            assert isinstance(aggregate, typed.Aggregate)
            one = kept(aggregate)
            if one.collects:
                found[field] = self._collected(w, one, at, field, own)
            elif not one.nested and aggregate.argument is None:
                found[field] = Code(f"({g}.count[{at}] + 1)", "True", "i")
            else:
                if one not in states:
                    states[one] = self._with(w, one, at, own)
                if field[0] == "agg":
                    summed = one in self.sums
                    state = states[one]
                    found[field] = self._sum_with(w, one, at, state, own) if summed else one.algorithm.result(w, state)
                else:
                    found[field] = Code(states[one][str(field[2])], "True", one.kind_of_cell(str(field[2])))
        return found

    def _with(self, w: Writer, one: Kept, at: str, own: Env) -> State:
        """A copy of a state, with another member added."""
        if one in self.sums:
            kept_cells = self.state(one, at).cells
            cells = {cell: w.let(cell, source) for cell, source in kept_cells.items()}
            state = State(self.unit, one.kind, cells)
            add_member(self.unit, w, one, state, own)
            if one.algorithm.doubt is not None:
                with w.block(f"if {one.algorithm.doubt(w, state, one.algorithm.result(w, state))}:"):
                    w.line(f"rarely_anew_{self.name}_{self.sums[one]}({at})")
                    for cell, source in kept_cells.items():
                        w.line(f"{cells[cell]} = {source}")
                    add_member(self.unit, w, one, state, own)
            return state
        row = w.let("row", self._row(one, at))
        held, g = self.read(row)[value_field(one)].value, self.groups
        cells = {
            "n": w.let("n", f"1 if {row} != 0 else 0"),
            "best": w.let("best", held),
            "at": w.let("place", f"-1 if {g}.end[{row}] < clock.now else 1"),
        }
        state = State(self.unit, one.kind, cells)
        with w.when(own[value_field(one)].valid):
            one.algorithm.add(w, state, own[value_field(one)].value, "+")
        return state

    def source(self, w: Writer, at: str, source: str = "0") -> Code:
        """The inputs of all members of a group."""
        found = w.let("source", source)
        row = w.let("row", f"{self.groups}.{ALL}_first[{at}]")
        with w.block(f"while {row} != 0:"):
            w.line(f"{found} = union({found}, {self.read(row)[SOURCE].value})")
            w.line(f"{row} = {self.groups}.{ALL}_next[{row}]")
        return Code(found, "True", "i")
