"""What is negated or gathered: it is stored as it comes, by key, and looked for in the scope of each match."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ensue.engine.compiled.aggregates import aggregates_in
from ensue.engine.compiled.atoms import Inner, attributes_used, bindings, equalities, fitting, inner_of
from ensue.engine.compiled.expressions import Code, Find, NotCompiledError
from ensue.engine.compiled.fields import Fields, Held
from ensue.engine.compiled.layout import Store
from ensue.engine.compiled.parts import Part, RuleParts
from ensue.engine.compiled.unit import Arrival
from ensue.engine.compiled.writing import all_of
from ensue.language import typed
from ensue.temporal.lifetimes import Frame, since


def store_inner(rule: RuleParts, part: Part) -> None:
    """Has each event stored that may lie in a scope."""
    unit = rule.unit
    inner = inner_of(part.pattern)
    store = _store(rule, part, inner)
    own = unit.layer_of(inner.atom.event)
    if isinstance(part.scope, typed.Inside) and own is not None and own >= unit.layer:
        raise NotCompiledError("absence of what is derived at the same time")
    key = inner_key(part, inner)

    def take(arrival: Arrival) -> None:
        with unit.writer.when(inner_fits(rule, inner, arrival)):
            slot = unit.slot(arrival, key, insert=True)
            with unit.known(slot):
                values = [(arrival.attribute(f[1]), column) for f, (column, _) in store.columns.items()]
                unit.put(store, slot, arrival.start, "t", values)

    if isinstance(part.scope, typed.Inside) and own is not None:
        unit.prepared(inner.atom.event, take)
    else:
        unit.taken_in(inner.atom.event, repr(inner_what(rule, part, inner)), take)


def inner_key(part: Part, inner: Inner) -> tuple[str, ...]:
    """The attributes that correlate what lies in a scope with the match."""
    names = bindings(inner.atom)
    if any(name not in names for name in part.shared):
        raise NotCompiledError("a variable that is not an attribute's")
    return tuple(names[name] for name in part.shared)


def inner_what(rule: RuleParts, part: Part, inner: Inner) -> object:
    """What a store holds: the same for scopes that can share it."""
    filters = repr((equalities(inner.atom), []))
    what = ("atom", inner.atom.event, inner_key(part, inner), filters, rule.apart)
    if isinstance(part.scope, typed.Inside) and rule.unit.layer_of(inner.atom.event) is not None:
        return ("inside", rule.number, *what)
    return what


def inner_fits(rule: RuleParts, inner: Inner, arrival: Arrival) -> str:
    """Whether an event has the values that the atom gives; its conditions are checked with each match."""
    return all_of(*(f"({test})" for test in fitting(rule.unit, inner.atom, arrival) if test != "True"))


def _store(rule: RuleParts, part: Part, inner: Inner) -> Store:
    unit = rule.unit
    kinds = tuple(unit.kind(inner.atom.event, attribute) for attribute in inner_key(part, inner))
    if kinds != tuple(rule.kind_of(rule.field_of_variable(name)) for name in part.shared):
        raise NotCompiledError("a variable of several kinds")
    store = unit.layout.store(inner_what(rule, part, inner), unit.layout.space(kinds))
    begin, _ = rule.span(part.scope)
    reach = since(Frame.of(rule.body), (begin[1], begin[0] == "end"), unit.events)
    store.needed(None if reach is None else max(0, reach))
    store.users.add(rule.number)
    for attribute in sorted(_attributes(rule, part, inner)):
        store.column(("@", attribute), unit.kind(inner.atom.event, attribute))
    return store


def _attributes(rule: RuleParts, part: Part, inner: Inner) -> set[str]:
    """The attributes of what is inside that conditions or aggregates use."""
    names = bindings(inner.atom)
    uses = list(inner.conditions)
    if isinstance(part, typed.Gathering):
        uses += [a.argument for a in aggregates_of(rule, part) if a.argument is not None]
    return {attribute for use in uses for attribute in attributes_used(use, names, inner.atom.label)}


def aggregates_of(rule: RuleParts, gathering: typed.Gathering) -> list[typed.Aggregate]:
    """The aggregates of what is gathered, wherever the rule has them."""
    uses = [*(term for _, term in rule.rule.head), *rule.body.where, *rule.body.on]
    return [aggregate for aggregate in aggregates_in(uses) if aggregate.path == (gathering.id,)]


def inner_find(rule: RuleParts, part: Part, inner_env: Fields, env: Fields) -> Find:
    """What names stand for inside a scope: first for what lies in it, then for the match."""
    inner = inner_of(part.pattern)
    names = bindings(inner.atom)

    def found(expression: typed.Expression) -> Code:
        match expression:
            case typed.Variable(name=name) if name in names and name not in part.shared:
                return inner_env["@", names[name]]
            case typed.AttributeOf(label=label, attribute=attribute) if label == inner.atom.label:
                return inner_env["@", attribute]
            case typed.TimeOf(label=label, end=end) if label == inner.atom.label:
                return inner_env["end" if end else "start", inner.atom.id]
        return env[rule.field_of(expression)]

    return found


def walk(rule: RuleParts, part: Part, env: Fields, each: Callable[[Fields], None]) -> None:
    """Visits what lies in the scope of a match, newest end first."""
    unit, w = rule.unit, rule.unit.writer
    inner = inner_of(part.pattern)
    store = _store(rule, part, inner)
    n = store.number
    begin, end = (env[point].value for point in rule.span(part.scope))
    inside = isinstance(part.scope, typed.Inside)
    slot = None
    if part.shared:
        codes = [env[rule.field_of_variable(name)] for name in part.shared]
        slot = unit.lookup(tuple(code.kind for code in codes), codes, insert=False)
    with unit.known(slot), unit.newest_first(store, slot) as (at, row):
        with w.block(f"if T{n}[{row}, 3] {'<' if inside else '<='} {begin}:"):
            w.line("break")
        w.line(f"{at} = T{n}[{row}, 0]")
        if inside:
            lies = f"{begin} <= T{n}[{row}, 2] and T{n}[{row}, 3] <= {end}"
        else:
            lies = f"{begin} < T{n}[{row}, 2] and T{n}[{row}, 3] < {end}"
        with w.when(lies):
            found = Held(
                f"T{n}", f"F{n}", row, inner.atom.id, store.columns,
                lambda key: unit.nullable(inner.atom.event, key[1]),
            )  # fmt: skip
            tests = rule.truths(inner.conditions, inner_find(rule, part, found, env))
            with w.when(all_of(*tests)):
                each(found)


def seen_in(rule: RuleParts, part: Part, env: Fields, unless: Sequence[str] = ()) -> str:
    """A name for whether something lies in the scope of a match; where one of others is true, it does not matter."""
    w = rule.unit.writer
    seen = w.let("k", "False")

    def note(_: Fields) -> None:
        w.line(f"{seen} = True")
        w.line("break")

    with w.when(all_of(*(f"not {name}" for name in unless))):
        walk(rule, part, env, note)
    return seen
