"""Parameter contexts: a terminator takes what the context of its initiators offers, and uses it up."""

from __future__ import annotations

from collections.abc import Callable

from ensue.engine.compiled.expressions import NotCompiledError
from ensue.engine.compiled.fields import Fields, Joined
from ensue.engine.compiled.layout import Store
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.relations import covering, related
from ensue.engine.compiled.sides import same_keys, waits
from ensue.engine.compiled.unit import Unit
from ensue.engine.compiled.writing import all_of
from ensue.language import typed


def select(
    rule: RuleParts, pair: typed.Pair, store: Store, slot: str | None, env: Fields,
    initiator: Callable[[str], Fields], go_on: Callable[[Fields], None],
) -> None:  # fmt: skip
    """Goes on with each pair of an initiator in the store, which is read by its row, and the terminator at hand.

    Initiators are visited newest first; the chain of the key is taken apart as they are used up.
    """
    unit, w, n = rule.unit, rule.unit.writer, store.number
    assert pair.left_context is not None
    assert pair.right_context is not None
    context, terminator = pair.left_context.initiator, pair.right_context.terminator

    def compose(row: str) -> None:
        left = initiator(row)
        go_on(Joined(covering(rule, pair, (left, env)), left, env, same=same_keys(rule, pair)))

    with unit.known(slot):
        place = slot or "0"
        at = w.let("p", f"H{n}[{place}]")
        newer = w.let("n", "np.int64(-1)")
        every = context == "chronicle" and terminator == "continuous"
        taken, over = w.let("p", "np.int64(-1)"), w.let("n", "np.int64(-1)")
        with w.block(f"while {at} >= lo{n}:"):
            row = w.let("q", f"{at} & (T{n}.shape[0] - 1)")
            unit.stop_where_over(store, row)
            older = w.let("p", f"T{n}[{row}, 0]")
            with w.block(f"if {_eligible(rule, pair, initiator(row), env)}:"):
                if every:
                    _unlink(unit, n, place, newer, older)
                    with unit.repeated(unit.most_in(f"T{n}", store.size)):
                        compose(row)
                else:
                    w.line(f"{taken} = {at}")
                    w.line(f"{over} = {newer}")
                    w.line("break" if context != "chronicle" else f"{newer} = {at}")
            with w.block("else:"):
                w.line(f"{newer} = {at}")
            w.line(f"{at} = {older}")
        if not every:
            with w.block(f"if {taken} >= 0:"):
                row = w.let("q", f"{taken} & (T{n}.shape[0] - 1)")
                if context == "chronicle":
                    _unlink(unit, n, place, over, f"T{n}[{row}, 0]")
                elif context == "recent":
                    _unlink(unit, n, place, over, "np.int64(-1)")
                else:
                    w.line(f"T{n}[{row}, 0] = -1")
                compose(row)


def check_context(rule: RuleParts, pair: typed.Pair) -> None:
    """Contexts are compiled for sequences of two events, where the order of events matters."""
    events = isinstance(pair.left, typed.Atom) and isinstance(pair.right, typed.Atom)
    if not events or not waits(rule, pair, 0):
        raise NotCompiledError("a context on something other than a sequence of two events")
    rule.unit.layout.ordered = True


def _unlink(unit: Unit, n: int, slot: str, newer: str, older: str) -> None:
    """Takes a row, or with it all older ones, out of the chain of its key."""
    w = unit.writer
    with w.block(f"if {newer} >= 0:"):
        w.line(f"T{n}[{newer} & (T{n}.shape[0] - 1), 0] = {older}")
    with w.block("else:"):
        w.line(f"H{n}[{slot}] = {older}")


def _eligible(rule: RuleParts, pair: typed.Pair, left: Fields, right: Fields) -> str:
    """What this pairing determines: its relation, the body's length, and ``on``."""
    body = rule.body
    tests = [related(rule, pair.relation, (left, right), (pair.left.id, pair.right.id))]
    start = covering(rule, pair, (left, right))["start", pair.id].value
    if body.within is not None:
        tests.append(f"t - {start} <= {rule.length('within', body.within)}")
    if body.lasting is not None:
        operator = "==" if pair is rule.root else "<="
        tests.append(f"t - {start} {operator} {rule.length('lasting', body.lasting)}")
    known = {atom.id for atom in rule.below(pair)}
    conditions = [c for c in body.on if {field_[1] for field_ in rule.fields(c)} <= known]
    return all_of(*tests, *rule.truths(conditions, rule.find(Joined({}, left, right, same=same_keys(rule, pair)))))
