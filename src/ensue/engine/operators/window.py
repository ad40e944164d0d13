"""Window: matches of the rest of a body with the collected events of a window beside them.

The collected events do not depend on the rest: a group is the values of shared variables and of the head's terms that
use the collected event. So a window by itself gives matches (``window_count.py`` and the others), each with the names
of its last event and with aggregates, and beside a pattern these are joined with the matches of the rest by the shared
variables. Null agrees with nothing there. Both sides are stored for later partners, for as long as ``within`` allows,
else for ever; where the rest is static rows it is known from the start, and nothing else is stored. Matches are ordered
by the parts of the rest, then by those of the beginning, then by those of their last event.

Where a term of the head or the argument of an aggregate uses names of the rest and of the collected event together,
groups or values differ for each match of the rest: then they are computed again for each (``window_any.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ensue.engine.generate.expressions import value
from ensue.engine.generate.fields import OLDEST, SOURCE, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.aggregates import Aggregates, kept
from ensue.engine.operators.gate import Gate, gate_parts
from ensue.engine.operators.keys import key_kinds, key_of
from ensue.engine.operators.look_up import Nothing, nothing_under
from ensue.engine.operators.shelf import Shelf
from ensue.engine.structures.groups import Groups, StaticGroups
from ensue.engine.structures.rows import StaticNumbers, numbers_layout
from ensue.language import typed
from ensue.language.walk import visible_variables
from ensue.plan import operators as plan
from ensue.temporal.instants import instantaneous

HIDDEN = ("part", "span", "agg", "cell", "list")
"""Kinds of fields that a match has of its rest, and never of collected events."""


class Window(Operator):
    """Matches with the aggregates of a window; see the module."""

    def __init__(
        self,
        unit: Unit,
        node: plan.Window,
        input_: Operator,
        collected: Operator,
        beginning: Operator | None,
        layer: int,
        kind: Callable[[Window], Kind],
    ) -> None:
        super().__init__(unit, "window", layer)
        self.node, self.window = node, node.window
        self.collected, self.beginning = collected, beginning
        self.rest = None if isinstance(input_, Nothing) else input_
        self.fixed = nothing_under(input_)
        self.aggregates = Aggregates(self.window.id, collected, None)
        self.mixed = False
        """True if a term uses names of the rest and of the collected event together."""
        self._kind = kind
        self._writer: Kind | None = None
        self.rests: Shelf | None = None
        self.results: Shelf | None = None
        self._join_by: list[str] = []
        self._want_groups()
        unit.later(layer, f"waits_{self.name}()", f"settle_{self.name}()")
        if self.window.record.ends_later:
            unit.dues.append(f"due_{self.name}()")
        collected.feed(lambda w, env: self.writer.take(w, env))
        if beginning is not None:
            beginning.feed(lambda w, env: self.writer.begin(w, env))
            if node.gated:
                gate = Gate(unit, [beginning], collected, self.shared_with_beginning, node.keep)
                gate_parts(gate, node.gated, collected, beginning, layer)
        if self.rest is not None:
            self.rest.feed(lambda w, env: self.writer.take_rest(w, env))

    def _want_groups(self) -> None:
        """Request the fields that make groups, and those that join them with the rest."""
        window = self.window
        names = dict.fromkeys((*window.shared, *window.keys))
        self.collected.want(("var", name) for name in names)
        self.terms: list[typed.Expression] = []
        for term in self.node.terms:
            fields = used_by([term])
            own = [field for field in fields if self._of_event(field)]
            if own and len(own) < len(fields):
                self.mixed = True
            if own:
                self.terms.append(term)
                for field in fields:
                    self._source(field).want([field])
        if window.beginning is not None and self.beginning is not None:
            both = [name for name in visible_variables(window.beginning) if self._rest_has(("var", name))]
            self.mixed = self.mixed or not set(both) <= set(window.shared)
            self.beginning.want(("var", name) for name in (*self.shared_with_beginning, *both))
            if self.rest is not None:
                self.rest.want(("var", name) for name in both)
        self._join_by = [name for name in window.shared if self._rest_has(("var", name))]
        if self.rest is not None:
            self.rest.want(("var", name) for name in self._join_by)

    @property
    def shared_with_beginning(self) -> list[str]:
        beginning = self.beginning
        return [] if beginning is None else [name for name in self.window.shared if beginning.has(("var", name))]

    @property
    def shared_with_rest(self) -> list[str]:
        return self._join_by

    # --- sources of its fields

    def _of_event(self, field: Field) -> bool:
        return field[0] not in HIDDEN and field not in (START, SOURCE, OLDEST) and self.collected.has(field)

    def _rest_has(self, field: Field) -> bool:
        return self.rest is not None and self.rest.has(field)

    def _begins(self, field: Field) -> bool:
        apart = field[0] == "part" or field in (SOURCE, OLDEST)
        return self.beginning is not None and not apart and self.beginning.has(field)

    def _source(self, field: Field) -> Operator:
        """The operator that a name in a group's term comes from: the event, or else the beginning, or else the rest."""
        if self._of_event(field):
            return self.collected
        if self._begins(field):
            assert self.beginning is not None
            return self.beginning
        assert self.rest is not None
        return self.rest

    def route(self, field: Field) -> tuple[Operator, Field]:
        """The operator that a field of a match comes from, and its field there; own aggregates are left out."""
        if field[0] == "part":
            number = int(str(field[1]))
            for side, first in self._parts():
                if number < first + side.parts:
                    return side, ("part", number - first, field[2])
        if self._begins(field):
            assert self.beginning is not None
            return self.beginning, field
        if self._rest_has(field):
            assert self.rest is not None
            return self.rest, field
        return self.collected, field

    def _parts(self) -> Iterator[tuple[Operator, int]]:
        """The operators that parts of a match come from, each with its first number: rest, beginning, last event."""
        first = 0
        for side in (self.rest, self.beginning, self.collected):
            if side is not None:
                yield side, first
                first += side.parts

    @property
    def parts(self) -> int:
        return sum(side.parts for side, _ in self._parts())

    @property
    def chains(self) -> frozenset[int]:
        return frozenset(first + number for side, first in self._parts() for number in side.chains)

    @property
    def ragged(self) -> bool:
        return any(side.ragged for side, _ in self._parts())

    def has(self, field: Field) -> bool:
        if field[0] == "part":
            return field[1] in self.chains if field[2] == "more" else int(str(field[1])) < self.parts
        known = self.aggregates.owns(field) or self._rest_has(field) or self._begins(field)
        return known or field in (START, SOURCE, OLDEST) or self._of_event(field)

    def gives_list(self, aggregate: typed.Aggregate) -> bool:
        return self.rest is None and self.aggregates.owns(("list", aggregate))

    def column(self, field: Field) -> Column:
        if self.aggregates.owns(field):
            return self.aggregates.column(field)
        if field in (SOURCE, OLDEST):
            return Column("i", False)
        side, inner = self.route(field)
        return side.column(inner)

    def require(self, fields: list[Field]) -> None:
        for field in fields:
            if self.aggregates.owns(field):
                self._require_aggregate(field)
            elif field == SOURCE:
                for side in (self.collected, self.beginning, self.rest):
                    if side is not None:
                        side.want([SOURCE])
            elif field == OLDEST:  # the age of a window counts from its own end
                if self.rest is not None:
                    self.rest.want([OLDEST])
            else:
                side, inner = self.route(field)
                side.want([inner])

    def _require_aggregate(self, field: Field) -> None:
        aggregate = field[1]
        assert isinstance(aggregate, typed.Aggregate)
        self.aggregates.wanted[field] = None
        for used in kept(aggregate).fields():
            if used[0] == "cell" or self._of_event(used):
                self.collected.want([used])
            else:
                self.mixed = True
                self._source(used).want([used])

    # --- code

    @property
    def writer(self) -> Kind:
        """The writer of its kind; made when all wanted fields are known."""
        if self._writer is None:
            self._writer = self._kind(self)
        return self._writer

    @property
    def leaves_twice(self) -> bool:
        """True if intervals leave a span both by their start and by their end, as the largest lifetime is shorter."""
        keep, instant = self.node.keep, instantaneous(self.window.pattern, self.unit.events)
        return keep is not None and self.window.kind == "span" and keep < self.window.size - 1 and not instant

    @property
    def forgets(self) -> bool:
        """True if a session may last longer than its first events are kept."""
        return self.node.keep is not None and self.window.kind == "gap"

    @property
    def _event_fields(self) -> dict[Field, Field]:
        """The fields of a match that its last event has, or by which it is joined, and their names there."""
        names: list[Field] = [("var", name) for name in self._join_by]
        return self._of(self.collected) | {field: field for field in names}

    @property
    def event_columns(self) -> dict[Field, Column]:
        return {field: self.collected.column(inner) for field, inner in self._event_fields.items()}

    def event(self, env: Env) -> Env:
        """The fields of a match that an event has."""
        return Env({field: env[inner] for field, inner in self._event_fields.items()})

    def _from(self, field: Field) -> Operator | None:
        return None if self.aggregates.owns(field) or field in (SOURCE, OLDEST) else self.route(field)[0]

    @property
    def beginning_fields(self) -> dict[Field, Field]:
        """The fields of a match that its beginning has, and their names there."""
        return self._of(self.beginning)

    def _of(self, side: Operator | None) -> dict[Field, Field]:
        routes = {field: self.route(field) for field in self.wanted if self._from(field) is not None}
        return {field: inner for field, (of, inner) in routes.items() if of is side}

    def found(self, w: Writer, env: Env) -> None:
        """Write code that passes on a match of the window by itself, or joins it with the rest."""
        env = Env({**env, OLDEST: Code("clock.now", "True", "i")})
        if self.rest is None:
            self.push(w, env)
            return
        key = key_of(self.unit, w, self._join_by, env, self.rest)
        if key is None:
            return
        self._shelves(env)
        assert self.rests is not None
        if self.fixed is not None:
            begun = self.unit.structure("begun", StaticNumbers, numbers_layout(("once",)))
            with w.block(f"if {begun}.once == 0:"):
                w.line(f"{begun}.once = 1")
                self.fixed.occur(w)
        with w.when(key.there):
            self.rests.visit(w, key.parts, lambda w, rest: self._both(w, rest, env))
            if self.results is not None:
                self.results.put(w, key.parts, env)

    def take_rest(self, w: Writer, env: Env) -> None:
        """Write the arrival of a match of the rest: it is joined with matches of the window, and stored."""
        assert self.rest is not None
        key = key_of(self.unit, w, self._join_by, env, self.collected)
        if key is None:
            return
        self._shelves(None)
        with w.when(key.there):
            if self.results is not None:
                self.results.visit(w, key.parts, lambda w, own: self._both(w, env, own))
            assert self.rests is not None
            self.rests.put(w, key.parts, env)

    def _shelves(self, env: Env | None) -> None:
        if self.rests is not None:
            return
        assert self.rest is not None
        reach = self.node.reach
        life = None if reach is None or self.fixed is not None else self.unit.number(reach)
        kinds = key_kinds(self._join_by, self.rest, self.collected)
        kind = Groups if self.fixed is None else StaticGroups
        self.rests = Shelf(self, "rests", kinds, self.rest.columns, life, kind)
        if self.fixed is None:
            own = [field for field in self.wanted if self._from(field) is not self.rest]
            self.results = Shelf(self, "collected", kinds, {field: self.column(field) for field in own}, life)

    def _both(self, w: Writer, rest: Env, own: Env) -> None:
        """Write code that passes on a match of the rest and one of the window as one."""
        found = Env()
        for field in self.wanted:
            if field == SOURCE:
                found[field] = Code(f"union({rest[SOURCE].value}, {own[SOURCE].value})", "True", "i")
            elif field == OLDEST:
                found[field] = Code(f"min({rest[OLDEST].value}, {own[OLDEST].value})", "True", "i")
            else:
                found[field] = rest[field] if self._from(field) is self.rest else own[field]
        found[START] = Code(w.let("start", f"min({rest[START].value}, {own[START].value})"), "True", "i")
        self.push(w, found)

    def write(self) -> None:
        super().write()
        self.writer.write()


class Kind:
    """Base of the kinds of windows. Their code is part of the functions of their inputs."""

    def __init__(self, operator: Window) -> None:
        self.operator, self.unit, self.name = operator, operator.unit, operator.name
        self.window, self.wanted = operator.window, operator.aggregates.wanted
        self.keep = operator.node.keep

    def take(self, w: Writer, env: Env) -> None:
        """Write the arrival of an event."""
        raise NotImplementedError

    def begin(self, w: Writer, env: Env) -> None:
        """Write the arrival of a beginning."""
        raise NotImplementedError

    def take_rest(self, w: Writer, env: Env) -> None:
        """Write the arrival of a match of the rest."""
        self.operator.take_rest(w, env)

    def write(self) -> None:
        """Write its other functions: the test for pending work at the end of the step, and that work."""
        self.settle("False", Writer())

    def settle(self, waits: str, w: Writer) -> None:
        test = Writer()
        test.line(f"return {waits}")
        self.unit.function(f"waits_{self.name}", [], test, "bool")
        self.unit.function(f"settle_{self.name}", [], w)

    def group(self, w: Writer, env: Env, leave_out: Iterable[str] = ()) -> list[Code]:
        """The values that make the group of an event, without some variables."""
        names = [n for n in dict.fromkeys((*self.window.shared, *self.window.keys)) if n not in leave_out]
        codes = [env["var", name] for name in names]
        codes += [value(self.unit, w, term, env) for term in self.operator.terms]
        return list({code.value: w.held(code) for code in codes if code.valid != "False"}.values())
