"""Derive: an event for each match of a rule. Derivations with equal content and interval are one event, unless the
rules of their type keep matches separate (``all``).

The events derived in a step are sorted when their layer is complete, and passed to the operators that take the type,
together with given events of the type. State: none beyond the step, except events that are emitted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from ensue.engine.generate.expressions import convert, value
from ensue.engine.generate.fields import SOURCE, START, Column, Env, Field, used_by
from ensue.engine.generate.operator import Operator, read_row, row_fields, write_row
from ensue.engine.generate.unit import Spec, Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.kinds import kind_of
from ensue.engine.operators.keys import column_kinds, group_parts
from ensue.engine.operators.scan import Scan
from ensue.engine.operators.shelf import swept_slot
from ensue.engine.sharing import families
from ensue.engine.structure import Element
from ensue.engine.structures.groups import SOURCES, groups_layout
from ensue.engine.structures.lists import Lists, OfCode, keep_list, lists_layout, order_of_lists
from ensue.engine.structures.quiet import QUIET_SOURCES, QuietGroups
from ensue.engine.structures.rows import StepRows, rows_layout, sorting
from ensue.engine.structures.seen import Seen, seen_function, seen_layout
from ensue.engine.subset.source import source_of
from ensue.language import typed
from ensue.language.aggregates import AGGREGATES
from ensue.plan import operators as plan

KEEP_LIST = source_of(keep_list)

FEW_ROWS = 4
"""Rows of a step up to which a new row is compared with each: a hash costs as much as a few comparisons."""

PLAIN = (typed.Constant, typed.Variable, typed.AttributeOf, typed.TimeOf)
"""Values that need no computation."""

ELEMENTS = {f"list<{name}>": kind_of(name) for name in ("int", "float", "string", "bool")}
"""Kinds of values in lists, by the type of the lists."""


def element_kind_of(type_: str) -> str:
    """The kind of values in lists of a type."""
    return ELEMENTS[type_]


def listed(event: typed.EventType, rules: Iterable[typed.Rule]) -> list[str]:
    """The attributes of an event that all its rules give as collected lists, each of the declared type.

    Keys of an output rate are left out: they are looked up as values.
    """
    rules = list(rules)
    heads = [dict(rule.head) for rule in rules]
    keys = {name for rule in rules if rule.quiet is not None for name in rule.quiet.keys}
    return [
        name
        for name, type_ in event.attributes.items()
        if type_ in ELEMENTS and name not in keys and all(_is_list(head[name], type_) for head in heads)
    ]


def _is_list(term: typed.Expression, type_: str) -> bool:
    return isinstance(term, typed.Aggregate) and AGGREGATES[term.name].meaning is tuple and term.type == type_


class Derived:
    """The events of a type that a unit derives: their rows, and the functions of a step for them."""

    def __init__(
        self, unit: Unit, event: str, lists: Collection[str] = (), taken: bool = False, recursive: bool = False
    ) -> None:
        """Rows of an event with these attributes as `lists`; with `taken` the unit's own rules take the event.

        In a `recursive` layer a row that is already there is not added, so that derivation ends. In others equal rows
        are merged when the layer is complete, but never those of matches that are kept separate.
        """
        self.unit, self.event = unit, event
        self.columns: dict[Field, Column] = {
            ("attr", name): Column("l" if name in lists else kind_of(type_), unit.may_be_null(event, name))
            for name, type_ in unit.events[event].attributes.items()
        }
        if lists:
            unit.structures["lists"] = Spec(Lists, lists_layout())
            unit.questions["lists"] = OfCode()
            unit.use(KEEP_LIST)
        fields: dict[str, Element] = {"start": "i64", "end": "i64", **row_fields(self.columns)}
        self.mixed = unit.events[event].given
        """True if events of the type are given, too; those may have numbers in a sequence."""
        self.joined = self.mixed or taken
        """True if events that others give or derive can be among the rows."""
        if self.joined:
            fields["given"] = "i64"
        if self.mixed:
            fields["sequence"] = "i64"
        if unit.provenance:
            fields["source"] = "i64"
        self.rows = unit.structure("derived", StepRows, rows_layout(fields, ("pushed",)))
        self.title = self.rows
        self.each = unit.events[event].each
        """Each match is an event of its own."""
        self.compares = recursive and not self.each
        """True if a new row is compared with those that are there."""
        self.known: str | None = None
        """The set of the rows of the step at hand, where derivation ends when nothing new is derived."""

    def is_list(self, name: str) -> bool:
        """True if an attribute is a list that no rule of the unit uses as a value."""
        return self.columns["attr", name].kind == "l"

    def attributes(self, row: str) -> Env:
        return read_row(self.rows, row, self.columns)

    def is_own(self, row: str) -> str:
        """Source that is true if a rule of the unit has derived a row."""
        return f"{self.rows}.given[{row}] == 0" if self.joined else "True"

    def write_functions(self) -> None:
        """Write the functions that compare, sort and add rows."""
        unit, rows = self.unit, self.rows
        w = Writer()
        for one, other in self._compared():
            this, that = w.let("this", one), w.let("that", other)
            with w.block(f"if {this} != {that}:"):
                w.line(f"return {this} < {that}")
        w.line("return False")
        unit.use(sorting(self.title, rows, "\n".join(w.lines)))
        if not self.compares:
            self._write_add()
            if not self.each:
                self._write_unique()
        elif unit.provenance or any(column.kind == "l" for column in self.columns.values()):
            self._write_add_by_scan()
        else:
            self._write_add_by_hash()

    def _write_add_by_hash(self) -> None:
        """Write ``add``, which compares a row with the few of its step, and looks it up in a hash set of many.

        A function of its own does that, so that ``add`` is small and inlined.
        """
        unit, rows, w = self.unit, self.rows, Writer()
        env = self.attributes("row")
        parts = group_parts([Code(f"{rows}.start[row]", "True", "i"), *env.values()])
        width = len(parts)
        known = self.known = unit.structure("known", Seen, seen_layout(width), width)
        unit.keys(width)
        unit.use(seen_function(width))
        w.line(f"return first_seen_{width}({', '.join([known, 'clock.now', *parts])})")
        unit.function(f"is_new_{self.title}", ["row: int"], w, "bool")
        self._write_same()
        w = Writer()
        with w.block(f"if {rows}.count - {rows}.first < {FEW_ROWS}:"):
            with self._each_equal(w):
                w.line("return True")
            w.line("return False")
        empty, every = f"{known}.now != clock.now or {known}.slots == 0", f"range({rows}.first, {rows}.count)"
        with w.block(f"if {empty}:"), w.block(f"for one in {every}:"), w.when(self.is_own("one")):
            w.line(f"is_new_{self.title}(one)")
        w.line(f"return not is_new_{self.title}({rows}.count)")
        unit.function(f"apart_is_there_{self.title}", [], w, "bool")
        w = Writer()
        with w.block(f"if {rows}.count > {rows}.first and apart_is_there_{self.title}():"):  # mostly it is the first
            w.line("return")
        self._count_new(w)
        unit.function(f"add_{self.title}", [], w)

    def _write_add_by_scan(self) -> None:
        """Write ``add`` where the equal row is needed, or where rows have lists: it compares all rows of a step."""
        unit, rows, w = self.unit, self.rows, Writer()
        self._write_same()
        with self._each_equal(w):
            if unit.provenance:
                w.line(f"add_source({rows}.source[one], {rows}.source[{rows}.count])")
            w.line("return")
        if unit.provenance:
            w.line(f"{rows}.source[{rows}.count] = box({rows}.source[{rows}.count])")
        self._count_new(w)
        unit.function(f"add_{self.title}", [], w)

    def _write_add(self) -> None:
        w = Writer()
        self._count_new(w)
        self.unit.function(f"add_{self.title}", [], w)

    def _count_new(self, w: Writer) -> None:
        """Write the end of ``add``: the row behind the last one is part of the step."""
        w.line(f"{self.rows}.count += 1")
        w.line("clock.derived = 1")

    @contextmanager
    def _each_equal(self, w: Writer) -> Iterator[None]:
        """Write a loop over derived rows of the step, ``one``, that equal the row behind the last one."""
        rows = self.rows
        same = all_of(self.is_own("one"), f"same_{self.title}(one, {rows}.count)")
        with w.block(f"for one in range({rows}.first, {rows}.count):"), w.block(f"if {same}:"):
            yield

    def _write_same(self) -> None:
        w = Writer()
        for one, other in self._compared(equal=True):
            with w.block(f"if {one} != {other}:"):
                w.line("return False")
        w.line("return True")
        self.unit.function(f"same_{self.title}", ["one: int", "other: int"], w, "bool")

    def _write_unique(self) -> None:
        """Write ``unique``, which keeps one of equal rows, except given ones; rows are sorted."""
        unit, rows, w = self.unit, self.rows, Writer()
        w.line(f"kept = {rows}.first")
        w.line("last = -1")
        with w.block(f"for row in range({rows}.first, {rows}.count):"):
            again = all_of(self.is_own("row"), f"last >= 0 and not before_{self.title}(last, row)")
            with w.block(f"if {again}:"):
                if unit.provenance:
                    w.line(f"{rows}.source[last] = union({rows}.source[last], {rows}.source[row])")
                else:
                    w.line("pass")
            with w.block("else:"):
                with w.when(self.is_own("row")):
                    w.line("last = kept")
                with w.block("if kept != row:"):
                    w.line(f"copy_row({rows}, kept, row)")
                w.line("kept += 1")
        w.line(f"{rows}.count = kept")
        unit.function(f"unique_{self.title}", [], w)

    def _compared(self, one: str = "one", other: str = "other", equal: bool = False) -> list[tuple[str, str]]:
        """The values that decide the order of rows, or equality: start, sequence, attributes with nulls first.

        The order of a common rule's matches does not matter, so coded values are compared by their codes there.
        """
        rows = self.rows
        found = [(f"{rows}.start[{one}]", f"{rows}.start[{other}]")]
        if self.mixed and not equal:
            found.append((f"{rows}.sequence[{one}]", f"{rows}.sequence[{other}]"))
        for number, column in enumerate(self.columns.values()):
            sides = []
            for row in (one, other):
                held = f"{rows}.f{number}[{row}]"
                match column.kind:
                    case "f":
                        held = f"float_order({held})"
                    case "o" if equal:
                        held = f"values.same[{held}]"
                if column.nullable:
                    valid = f"({rows}.f_valid{number // 63 or ''}[{row}] & {1 << (number % 63)})"
                    sides.append((valid, f"({held} if {valid} != 0 else 0)"))
                else:
                    sides.append(("", held))
            if column.nullable:
                found.append((sides[0][0], sides[1][0]))
            coded = column.kind in ("s", "o") and not equal and not self.event.startswith(families.FOUND)
            if coded or column.kind == "l":
                found.append((self._order(number, column, sides[0][0], sides[1][0], one, other), "0"))
            else:
                found.append((sides[0][1], sides[1][1]))
        return found

    def _order(self, number: int, column: Column, valid: str, other_valid: str, one: str, other: str) -> str:
        """Source for the comparison of the coded values or lists of two rows; 0 where one of them is missing."""
        sides = f"{self.rows}.f{number}[{one}], {self.rows}.f{number}[{other}]"
        found = f"{'value' if column.kind == 'o' else 'text'}_order(values, {sides})"
        if column.kind == "l":
            kind = element_kind_of(list(self.unit.events[self.event].attributes.values())[number])
            self.unit.use(order_of_lists(kind))
            found = f"order_of_lists_{kind}({sides})"
        return f"({found} if {valid} != 0 and {other_valid} != 0 else 0)" if valid else found

    def scans(self) -> list[Scan]:
        return self.unit.scans.get(self.event, [])


class Derive(Operator):
    """The head of a rule; see the module."""

    def __init__(self, unit: Unit, node: plan.Derive, input_: Operator, derived: Derived, layer: int) -> None:
        super().__init__(unit, "rule", layer)
        self.rule, self.input, self.derived = node.rule, input_, derived
        self.quiet = None if node.rule.quiet is None else Quiet(self, node.rule.quiet)
        self.lists: dict[str, Field] = {
            name: ("list", term)
            for name, term in node.rule.head
            if derived.is_list(name) and isinstance(term, typed.Aggregate) and input_.gives_list(term)
            and len(term.path) == 1  # members that are groups themselves bring lists, which Python joins
        }  # fmt: skip
        wanted = [*self.lists.values(), *used_by(term for name, term in node.rule.head if name not in self.lists)]
        if node.rule.beginning is not None:
            wanted.append(("time", node.rule.beginning, "start"))
        if unit.provenance:
            wanted.append(SOURCE)
        input_.want(wanted)
        input_.feed(self.take, self.take_where if self._is_plain else None)

    def write(self) -> None:
        if self.quiet is not None:
            self.quiet.write()

    @property
    def _is_plain(self) -> bool:
        """True if the event can be written before it is known to follow: nothing but a row changes."""
        derived = self.derived
        return self.quiet is None and not derived.compares and not self.lists and all(
            isinstance(term, PLAIN) and kind_of(term.type) == derived.columns["attr", name].kind
            for name, term in self.rule.head
        )  # fmt: skip

    def take(self, w: Writer, env: Env) -> None:
        self.take_where(w, env, "True")

    def take_where(self, w: Writer, env: Env, condition: str) -> None:
        terms = dict(self.rule.head)
        values = Env()
        for field in self.derived.columns:
            name = str(field[1])
            known = env[self.lists[name]] if name in self.lists else value(self.unit, w, terms[name], env)
            values[field] = w.held(known)
        begin = env[START] if self.rule.beginning is None else env["time", self.rule.beginning, "start"]
        derived = self.derived if self.quiet is None else self.quiet.held
        derive_event(self.unit, w, derived, begin, env.get(SOURCE), values, condition)


class Quiet:
    """``once per id in 1h``: an output rate. It keeps an event unless too many of its group were kept before it.

    The events of a step are held until it is complete, made distinct and sorted. State: the ends of kept events, for
    each group, as long as they count; a group without any is dropped. The groups' ``serial`` counts suppressed events,
    ``first`` kept ones.
    """

    def __init__(self, operator: Derive, quiet: typed.Quiet) -> None:
        derived = operator.derived
        names = [name for name in operator.unit.events[derived.event].attributes if derived.is_list(name)]
        self.operator, self.quiet, self.held = operator, quiet, Derived(operator.unit, derived.event, names)
        kinds = column_kinds(self.held.columns["attr", name] for name in quiet.keys)
        layout = groups_layout(kinds, {"oldest": "i64", "newest": "i64"}, {"newer": "i64", "end": "i64"})
        self.groups = operator.structure("quiet", QuietGroups, layout, len(kinds))
        operator.unit.later(operator.layer, f"{self.held.rows}.count > 0", f"settle_{operator.name}()")

    def write(self) -> None:
        """Write the function that decides which held events are kept."""
        unit, held, g = self.operator.unit, self.held, self.groups
        held.write_functions()
        for kernel in (*SOURCES, *QUIET_SOURCES):
            unit.use(kernel)
        w, rows = Writer(), held.rows
        with w.block(f"if {rows}.count > 1:"):
            w.line(f"sort_{rows}(0, {rows}.count)")
            if not held.each:
                w.line(f"unique_{rows}()")
        since = w.let("since", f"clock.now - {unit.number(self.quiet.length)}")
        with w.block(f"for row in range({rows}.count):"):
            env = held.attributes("row")
            key = group_parts([env["attr", name] for name in self.quiet.keys])
            key = [part if part.isidentifier() else w.let("key", part) for part in key]
            at = swept_slot(unit, w, g, key, f"sweep_kept({g}, {since})")
            w.line(f"expire_kept({g}, {at}, {since})")
            with w.block(f"if {g}.count[{at}] >= {unit.number(self.quiet.most)}:"):
                w.line(f"{g}.serial += 1")
            with w.block("else:"):
                w.line(f"keep_end({g}, {at}, clock.now)")
                w.line(f"{g}.first += 1")
                begin = Code(f"{rows}.start[row]", "True", "i")
                source = Code(f"{rows}.source[row]", "True", "i") if unit.provenance else None
                derive_event(unit, w, self.operator.derived, begin, source, env)
        w.line(f"{rows}.count = 0")
        unit.function(f"settle_{self.operator.name}", [], w)


def derive_event(
    unit: Unit, w: Writer, derived: Derived, begin: Code, source: Code | None, values: Env, condition: str = "True"
) -> None:
    """Write the derivation of an event, unless there is an equal one: its start, its source, its attributes.

    The row is written behind the last one in any case. With a `condition`, that alone decides if it counts.
    """
    rows, attributes = derived.rows, Env()
    for field, column in derived.columns.items():
        code = values[field]
        if column.kind == "l" and code.kind != "l":
            there = w.let("ok", code.valid)
            code = Code(w.let("list", f"ask(lists, {code.value}) if {there} else 0"), there, "l")
        else:
            code = convert(unit, w, code, column.kind)
        if column.kind == "f":
            code = Code(f"({code.value} + 0.0)", code.valid, "f")
        attributes[field] = w.held(code)
    with w.block(f"if {rows}.count == {rows}.capacity:"):
        w.line(f"grow({rows})")
    at = f"{rows}.count"
    w.line(f"{rows}.start[{at}] = {begin.value}")
    w.line(f"{rows}.end[{at}] = clock.now")
    if derived.joined:
        w.line(f"{rows}.given[{at}] = 0")
    if derived.mixed:
        w.line(f"{rows}.sequence[{at}] = 0")
    if unit.provenance:
        assert source is not None
        w.line(f"{rows}.source[{at}] = {source.value}")
    write_row(w, rows, at, derived.columns, attributes)
    if condition == "True":
        w.line(f"add_{derived.title}()")
    else:
        holds = w.let("holds", f"int({condition})")
        w.line(f"{rows}.count += {holds}")
        w.line(f"clock.derived |= {holds}")
