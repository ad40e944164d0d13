"""Anew: a negated or gathered pattern that uses names of the outer match, and is matched again for each of these.

The pattern is a unit of code of its own, with a state that is empty each time. The outer unit keeps all events that it
takes: where instances are chosen, any of them may have blocked another. For each outer match the names are passed in,
and all events so far run through the pattern's unit; its matches are rows that code loops over, oldest end first, as if
they had been stored. In the pattern's unit `Seeing` provides those names. This is for patterns that
`language/contained.py` cannot separate: the time for each match grows with the number of events, and so does the state.

Inside such a unit a scope may be a name further out, and so reach beyond the current match. The pattern in it is
matched again as well, then from all events that the unit runs with (`Ahead`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ensue.engine.generate.expressions import equal
from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, names_of
from ensue.engine.generate.operator import Operator, Passing, Take, read_row, row_fields, write_row
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.ordered import in_order
from ensue.engine.operators.scan import Scan
from ensue.engine.structures.anew import Ahead, Found, Kept, found_layout
from ensue.engine.structures.rows import Rows, rows_layout
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.plan import operators as plan

KEPT = "kept"
"""The name of an event that is kept."""


Build = Callable[[Unit, plan.Operator, int], Operator]
"""Makes the generated operator of an operator of the plan."""


class Anew(Operator):
    """Matches of a pattern, found on demand; see the module. `input_` are the matches around it."""

    def __init__(self, unit: Unit, node: plan.Anew, input_: Operator, layer: int, build: Build, ordered: bool) -> None:
        super().__init__(unit, "anew", layer)
        self.input = input_
        fields = list(dict.fromkeys(field for name in node.names for field in names_of(name)))
        self.outside: dict[Field, Column] = {}
        for field in fields:
            known = input_.has(field)
            self.outside[field] = input_.column(field) if known else unit.outside[field]
            input_.want([field] if known else [])
        used = {atom.event for atom in atoms(typed.Body(node.pattern))}
        types = [name for name in unit.events if name in used]
        self.inner = Unit(unit.events, types, {}, unit.nullable, unit.provenance)
        self.inner.mixed_columns, self.inner.outside = unit.mixed_columns, self.outside
        self.inner.assemble = unit.assemble
        top = build(self.inner, node.input, 0)
        self.top = in_order(self.inner, top, 0) if ordered else top
        self.top.feed(self._add)
        self.found: str | None = None
        self.rows: str | None = None
        self.kept: dict[str, str] = {}
        unit.inputs_need_order = True
        self.scans = [] if node.ahead else [self._scan(event, layer) for event in types]
        self.ahead = node.ahead

    # --- fields of its matches

    def require(self, fields: list[Field]) -> None:
        self.top.want(fields)

    def has(self, field: Field) -> bool:
        return self.top.has(field)

    def column(self, field: Field) -> Column:
        return self.top.column(field)

    @property
    def parts(self) -> int:
        return self.top.parts

    @property
    def chains(self) -> frozenset[int]:
        return self.top.chains

    # --- events that are kept

    def _scan(self, event: str, layer: int) -> Scan:
        scan = Scan(self.unit, plan.Scan(typed.Atom(-1, event, (), KEPT)), layer)
        scan.ordered = True
        scan.feed(lambda w, env: self._keep(scan, w, env))
        return scan

    def _keep(self, scan: Scan, w: Writer, env: Env) -> None:
        layout = rows_layout({"start": "i64", "end": "i64", **row_fields(scan.columns)})
        rows = self.kept[scan.atom.event] = scan.structure("kept", Rows, layout)
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = {env[START].value}")
        w.line(f"{rows}.end[{rows}.count] = clock.now")
        write_row(w, rows, f"{rows}.count", scan.columns, env)
        w.line(f"{rows}.count += 1")

    # --- the unit of the pattern

    def _add(self, w: Writer, env: Env) -> None:
        """Write code that stores a match, in the unit of the pattern."""
        columns = self.top.columns
        layout = rows_layout({"start": "i64", "end": "i64", **row_fields(columns)})
        rows = self.rows = self.inner.structure("found", Rows, layout)
        with w.block(f"if {rows}.count == {rows}.capacity:"):
            w.line(f"grow({rows})")
        w.line(f"{rows}.start[{rows}.count] = {env[START].value}")
        w.line(f"{rows}.end[{rows}.count] = clock.now")
        write_row(w, rows, f"{rows}.count", columns, env)
        w.line(f"{rows}.count += 1")

    def write(self) -> None:
        self._found()

    def _found(self) -> str:
        """The structure of found matches; the unit of the pattern is written on first use."""
        if self.found is not None:
            return self.found
        code = self.inner.assemble(self.inner)
        assert self.rows is not None
        for scan in self.scans:
            event = scan.atom.event
            scan.want(("attr", KEPT, name) for type_, name in self.inner.inputs if type_ == event)
            scan.want([("part", 0, "k"), *([SOURCE] if self.unit.provenance else [])])
        columns = row_fields(self.top.columns)
        layout = found_layout(len(self.outside), {"start": "i64", "end": "i64", **columns})
        self.found = self.structure("anew", Found, layout, code, self.rows)
        if self.ahead:
            inputs = {field: int(self.unit.input(*field)[0][1:]) for field in self.inner.inputs}
            self.unit.questions[self.found] = Ahead(inputs)
        else:
            self.unit.questions[self.found] = Kept(self.kept, {s.atom.event: s.columns for s in self.scans})
        return self.found

    # --- code

    def visit(
        self, w: Writer, env: Env, shared: Iterable[str], lies: Callable[[str, str], str], over: Callable[[str], str],
        each: Take,
    ) -> None:  # fmt: skip
        """Write a loop over the matches that agree with an outer one, newest end first.

        `lies` gives source that is true if a match with a start and an end lies in the scope, `over` source that is
        true if all others end too early; `each` may leave the loop with a break.
        """
        found = self._found()
        pairs = [(env["var", name], ("var", name)) for name in shared]
        with w.when(all_of(*(code.has_key for code, _ in pairs))):
            for number, (field, column) in enumerate(self.outside.items()):
                code = w.held(env[field] if field in env else self.unit.outer(field))
                w.line(f"{found}.v{number} = {f'bits({code.value})' if column.kind == 'f' else code.stored}")
                w.line(f"{found}.ok{number} = {f'int({code.valid})' if code.valid != 'True' else '1'}")
            w.line(f"ask({found}, 0)")
            row = w.let("row", f"{found}.count")
            with w.block(f"while {row} > 0:"):
                w.line(f"{row} -= 1")
                with w.block(f"if {over(f'{found}.end[{row}]')}:"):
                    w.line("break")
                with w.block(f"if {lies(f'{found}.start[{row}]', f'{found}.end[{row}]')}:"):
                    inner = read_row(found, row, self.top.columns)
                    with w.when(all_of(*(equal(self.unit, w, code, inner[field]) for code, field in pairs))):
                        each(w, Env({**env, **inner, START: Code(f"{found}.start[{row}]", "True", "i")}))


class Seeing(Passing):
    """Matches with some names of the outer match for which they are found."""

    def __init__(self, unit: Unit, node: plan.Seeing, input_: Operator, layer: int) -> None:
        super().__init__(unit, "seeing", input_, layer)
        self.own = {field for name in node.names for field in names_of(name)}

    def require(self, fields: list[Field]) -> None:
        self.input.want(field for field in fields if field not in self.own)

    def has(self, field: Field) -> bool:
        return field in self.own or self.input.has(field)

    def column(self, field: Field) -> Column:
        return self.unit.outside[field] if field in self.own else self.input.column(field)

    def take(self, w: Writer, env: Env) -> None:
        self.push(w, Env({**env, **{field: self.unit.outer(field) for field in self.own}}))
