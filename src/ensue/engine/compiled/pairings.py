"""Pairings: an instance of one side looks up the other side's of its key, and goes on with those that fit.

Then it is stored itself, unless nothing that comes later can fit it. What must hold is checked as soon as all that it
needs is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.compiled.adjacency import adjacent, adjacent_absences, decided_by_newest, mark_of
from ensue.engine.compiled.atoms import bindings, by_attributes, equalities
from ensue.engine.compiled.fields import Fields, Held, Joined
from ensue.engine.compiled.layout import Field, Store
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.relations import covering, related
from ensue.engine.compiled.scopes import seen_in
from ensue.engine.compiled.selection import check_context, select
from ensue.engine.compiled.sides import (
    key_attributes,
    key_kinds,
    key_of,
    needed,
    on_both_sides,
    same_keys,
    side_of,
    waits,
)
from ensue.engine.compiled.timers import matched
from ensue.engine.compiled.unit import Arrival
from ensue.engine.compiled.writing import all_of
from ensue.language import typed
from ensue.temporal.lifetimes import Frame, distances_of, lifetime


def complete(rule: RuleParts, node: typed.Pattern, env: Fields, arrival: Arrival | None = None) -> None:
    """Goes on with an instance of a pattern that ends now; `arrival` is the event if it is one."""
    if not isinstance(node, typed.Atom) and rule.checked.get(node.id):
        with rule.unit.writer.when(all_of(*rule.truths(rule.checked[node.id], rule.find(env)))):
            _go_on(rule, node, env, arrival)
    else:
        _go_on(rule, node, env, arrival)


def _go_on(rule: RuleParts, node: typed.Pattern, env: Fields, arrival: Arrival | None) -> None:
    if node.id not in rule.parents:
        matched(rule, env)
        return
    above, side = rule.parents[node.id]
    if isinstance(above, typed.Lacking):
        times = {("start", above.id): env["start", node.id], ("end", above.id): env["end", node.id]}
        complete(rule, above, Joined(times, env))
        return
    if above.left_context is not None:
        _select(rule, above, env, arrival)
        return
    if not waits(rule, above, side):
        if rule.unit.many:
            _set_aside(rule, above, side, env)
            return
        _probe(rule, above, side, env, arrival)
    if not waits(rule, above, 1 - side):
        _keep(rule, above, side, env)


def _select(rule: RuleParts, pair: typed.Pair, env: Fields, arrival: Arrival | None) -> None:
    check_context(rule, pair)
    store = store_of(rule, pair, 0)
    slot = _slot(rule, pair, 1, env, arrival, insert=False)
    select(
        rule, pair, store, slot, env,
        lambda row: _stored(rule, pair, 0, store, row),
        lambda joined: complete(rule, pair, joined),
    )  # fmt: skip


def _set_aside(rule: RuleParts, pair: typed.Pair, side: int, env: Fields) -> None:
    """An instance that was found while going through a store goes on when that is done."""
    unit, w, node = rule.unit, rule.unit.writer, side_of(pair, side)
    buffer = unit.layout.buffer((rule.number, node.id))
    n = buffer.number
    for field_ in needed(rule, node):
        buffer.column(field_, rule.kind_of(field_))
    unit.require(f"B{n}")
    w.line(f"B{n}[bh{n}, 2] = {env['start', node.id].value}")
    w.line(f"B{n}[bh{n}, 3] = {env['end', node.id].value}")
    values = [(env[field_], column) for field_, (column, _) in buffer.columns.items()]
    unit.write(f"B{n}", f"BG{n}", f"bh{n}", 4, values)
    w.line(f"bh{n} += 1")

    def go_on(row: str) -> None:
        found = Held(f"B{n}", f"BG{n}", row, node.id, buffer.columns, rule.nullable)
        _probe(rule, pair, side, found, None)
        if not waits(rule, pair, 1 - side):
            _keep(rule, pair, side, found)

    unit.set_aside(buffer, len(list(rule.inside(node))), go_on)


def _keep(rule: RuleParts, pair: typed.Pair, side: int, env: Fields) -> None:
    """Stores an instance of a side."""
    unit, node = rule.unit, side_of(pair, side)
    store = store_of(rule, pair, side)
    slot = _slot(rule, pair, side, env, None, insert=True)
    with unit.known(slot):
        values = [(env[field_], column) for field_, (column, _) in store.columns.items()]
        unit.put(store, slot, env["start", node.id].value, env["end", node.id].value, values)


def _probe(rule: RuleParts, pair: typed.Pair, side: int, env: Fields, arrival: Arrival | None) -> None:
    """Goes on with each stored instance of the other side that fits."""
    unit, w = rule.unit, rule.unit.writer
    store = store_of(rule, pair, 1 - side)
    slot = _slot(rule, pair, side, env, arrival, insert=False)
    n = store.number
    with unit.known(slot), unit.newest_first(store, slot) as (at, row):
        for absence in adjacent(rule, pair) if side == 1 else []:
            with w.block(f"if T{n}[{row}, 3] < L{mark_of(rule, absence).number}[{slot or '0'}]:"):
                w.line("break")
        unit.stop_where_over(store, row)
        w.line(f"{at} = T{n}[{row}, 0]")
        with unit.repeated(unit.most_in(f"T{n}", store.size)):
            _join(rule, pair, side, env, _stored(rule, pair, 1 - side, store, row))


def _join(rule: RuleParts, pair: typed.Pair, side: int, env: Fields, found: Fields) -> None:
    """Goes on with an instance of one side and one of the other, if they fit."""
    w = rule.unit.writer
    sides = (env, found) if side == 0 else (found, env)
    same = same_keys(rule, pair)
    with w.when(related(rule, pair.relation, sides, (pair.left.id, pair.right.id))):
        for absence in decided_by_newest(rule, pair, side):
            if absence not in adjacent_absences(rule):
                with w.block(f"if {seen_in(rule, absence, Joined({}, env, found, same=same))}:"):
                    w.line("break")
        times = covering(rule, pair, sides)
        short = "True"
        if rule.body.within is not None:
            within = rule.length("within", rule.body.within)
            short = f"{times['end', pair.id].value} - {times['start', pair.id].value} <= {within}"
        with w.when(short):
            complete(rule, pair, Joined(times, env, found, same=same))


# --- stores


def what_of(rule: RuleParts, pair: typed.Pair, side: int) -> tuple[object, ...]:
    """What the store of a side holds: the same for rules that can share it."""
    node = side_of(pair, side)
    if pair.left_context is not None:
        return ("context", rule.number, pair.id, side)
    if isinstance(node, typed.Atom) and waits(rule, pair, side):
        return _what_of_event(rule, pair, side, node, rule.checked.get(node.id, []))
    return ("side", rule.number, pair.id, side)


def _what_of_event(
    rule: RuleParts, pair: typed.Pair, side: int, atom: typed.Atom, conditions: Sequence[typed.Expression]
) -> tuple[object, ...]:
    """What the store of a side holds that is an event, and satisfies some conditions by itself."""
    filters = repr((equalities(atom), [by_attributes(c, bindings(atom)) for c in conditions]))
    if rule.apart:  # constants may change when rules go, but not which store it is
        filters = f"{pair.id} {side} {len(conditions)}"
    ended = [mark_of(rule, absence).number for absence in (adjacent(rule, pair) if side == 0 else [])]
    return ("atom", atom.event, key_attributes(rule, pair, side), filters, rule.apart, *ended[:1])


def share_newest(rule: RuleParts) -> None:
    """Has conditions checked later where another rule keeps the newest event of each key as it is anyway."""
    for pair in rule.nodes.values():
        if not isinstance(pair, typed.Pair) or not isinstance(pair.left, typed.Atom) or not adjacent(rule, pair):
            continue
        if _what_of_event(rule, pair, 0, pair.left, ()) in rule.unit.layout.stores:
            rule.checked.setdefault(pair.id, []).extend(rule.checked.pop(pair.left.id, []))


def store_of(rule: RuleParts, pair: typed.Pair, side: int) -> Store:
    """The store of a side, with columns for all that is needed of it later on."""
    unit, node, what = rule.unit, side_of(pair, side), what_of(rule, pair, side)
    store = unit.layout.store(what, unit.layout.space(key_kinds(rule, pair)))
    life = lifetime(distances_of(Frame.of(rule.body), pair, unit.events), node.id, pair)
    bounds = [bound for bound in (life.start, life.end) if bound is not None]
    store.needed(max(0, min(bounds)) if bounds else None)
    store.users.add(rule.number)
    if side == 0 and adjacent(rule, pair):
        store.ended_by = mark_of(rule, adjacent(rule, pair)[0])
    elsewhere = on_both_sides(rule, pair)
    for field_ in needed(rule, node):
        if field_ not in elsewhere:
            store.column(_called(what, field_), rule.kind_of(field_))
    return store


def _stored(rule: RuleParts, pair: typed.Pair, side: int, store: Store, row: str) -> Fields:
    """The fields of a side's instance in a row of its store."""
    n, node, what = store.number, side_of(pair, side), what_of(rule, pair, side)
    return Held(f"T{n}", f"F{n}", row, node.id, store.columns, rule.nullable, lambda key: _called(what, key))


def _called(what: tuple[object, ...], field_: Field) -> Field:
    """How a field is called in a store: by attribute where other rules may share it."""
    return ("@", field_[2]) if what[0] == "atom" and field_[0] == "attr" else field_


def _slot(
    rule: RuleParts, pair: typed.Pair, side: int, env: Fields, arrival: Arrival | None, insert: bool
) -> str | None:
    key = key_of(rule, pair, side)
    if not key:
        return None
    if arrival is not None and waits(rule, pair, 1 - side):
        return rule.unit.slot(arrival, key_attributes(rule, pair, side), insert)
    return rule.unit.lookup(key_kinds(rule, pair), [env[field_] for field_ in key], insert)
