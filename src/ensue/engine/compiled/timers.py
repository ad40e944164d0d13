"""Matches that wait for their timers: in a queue by the time at which they are due, and finished then."""

from __future__ import annotations

from ensue.engine.compiled.expressions import Code
from ensue.engine.compiled.fields import Fields, Held, Joined, time
from ensue.engine.compiled.heads import finish
from ensue.engine.compiled.layout import Field, Queue
from ensue.engine.compiled.parts import RuleParts
from ensue.engine.compiled.sides import needed
from ensue.engine.compiled.unit import Due
from ensue.language import typed
from ensue.language.limits import EARLIEST


def matched(rule: RuleParts, env: Fields) -> None:
    """A match of the pattern: it is complete, or it waits for its timers."""
    if not rule.body.timers:
        finish(rule, env, env["start", rule.root.id].value)
        return
    w = rule.unit.writer
    queue = _queue(rule)
    due = w.let("d", "t")
    for place, (shift, point) in enumerate(_deadlines(rule)):
        w.line(f"{due} = max({due}, {env[point].value} + {rule.length(('deadline', place), shift)})")
    with w.block(f"if {due} <= t:"):
        _finish(rule, env)
    with w.block("else:"):
        _enqueue(rule, queue, due, env)


def _deadlines(rule: RuleParts) -> list[tuple[int, Field]]:
    """When each timer ends: so long after the end of an event."""
    ends: dict[str, tuple[int, Field]] = {}
    found = []
    for timer in rule.body.timers:
        shift, point = ends.get(timer.of, (0, ("end", rule.labels[timer.of])))
        deadline = (shift + timer.end_shift, point)
        found.append(deadline)
        if timer.label is not None:
            ends[timer.label] = deadline
    return found


def _queue(rule: RuleParts) -> Queue:
    """What waits is due in the order in which it came where all timers refer to the one event of the rule."""
    queue = rule.unit.layout.queue(rule.number, isinstance(rule.root, typed.Atom))
    for field_ in needed(rule, rule.root):
        queue.column(field_, rule.kind_of(field_))
    return queue


def _enqueue(rule: RuleParts, queue: Queue, due: str, env: Fields) -> None:
    w, n, root = rule.unit.writer, queue.number, rule.root.id
    rule.unit.require(f"Q{n}")
    if queue.ordered:
        at = w.let("q", f"qh{n} & (Q{n}.shape[0] - 1)")
        w.line(f"qh{n} += 1")
    else:
        at = w.fresh("q")
        rule.unit.free_row(at, f"Q{n}", f"ql{n}", f"qh{n}")
        w.line(f"push(P{n}, qs{n}, {due}, {at})")
        w.line(f"qs{n} += 1")
    w.line(f"Q{n}[{at}, 0] = {due}")
    w.line(f"Q{n}[{at}, 2] = {env['start', root].value}")
    w.line(f"Q{n}[{at}, 3] = {env['end', root].value}")
    values = [(env[field_], column) for field_, (column, _) in queue.columns.items()]
    rule.unit.write(f"Q{n}", f"R{n}", at, 4, values)


def due_of(rule: RuleParts) -> Due | None:
    """What happens when matches of a rule are due; None if none of them waits."""
    if not rule.body.timers:
        return None
    w, queue = rule.unit.writer, _queue(rule)
    n = queue.number

    def waiting(at: str) -> Fields:
        return Held(f"Q{n}", f"R{n}", at, rule.root.id, queue.columns, rule.nullable)

    def first() -> None:
        at = w.let("q", f"ql{n} & (Q{n}.shape[0] - 1)")
        w.line(f"ql{n} += 1")
        _finish(rule, waiting(at))

    def smallest() -> None:
        at = w.let("q", f"pop(P{n}, qs{n})")
        w.line(f"qs{n} -= 1")
        _finish(rule, waiting(at))
        w.line(f"Q{n}[{at}, 0] = ql{n}")
        w.line(f"ql{n} = {at} + 1")

    return Due(queue.due, first if queue.ordered else smallest, rule.unit.most_in(f"Q{n}", queue.size))


def _finish(rule: RuleParts, env: Fields) -> None:
    """A match whose timers have all ended, the last of them now."""
    w = rule.unit.writer
    times: dict[Field, Code] = {}
    start = w.let("s", env["start", rule.root.id].value)
    known = Joined(times, env)
    for place, timer in enumerate(rule.body.timers):
        of = rule.labels[timer.of]
        shifts = [rule.length(("shift", place, end), (timer.start_shift, timer.end_shift)[end]) for end in (0, 1)]
        begin = w.let("s", f"max({known['start', of].value} + {shifts[0]}, np.int64({EARLIEST}))")
        end = w.let("e", f"max({known['end', of].value} + {shifts[1]}, np.int64({EARLIEST}))")
        times["start", timer.id], times["end", timer.id] = time(begin), time(end)
        w.line(f"{start} = min({start}, {begin})")
    finish(rule, known, start)
