"""``while last 1000: collect p``: at each event, that one and up to 999 before it in its group.

Events of one step come in their order, and each sees those before it. State: the last 1000 events of each group, for
ever, or as long as events are kept; cost as in `sliding.py`.
"""

from __future__ import annotations

from ensue.engine.generate.fields import SOURCE, START, Env
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import lookup
from ensue.engine.operators.shelf import swept_slot
from ensue.engine.operators.sliding import ALL, Sliding, group_key, group_kinds
from ensue.engine.operators.window import Kind
from ensue.temporal.instants import instantaneous


class CountWindow(Kind):
    """The last n events; see the module."""

    def take(self, w: Writer, env: Env) -> None:
        unit, operator = self.unit, self.operator
        instant = instantaneous(self.window.pattern, unit.events)
        members = Sliding(operator, self.wanted, by_start=False, starts=not instant)
        group = self.group(w, env)
        key = group_key(w, group)
        member = members.member(w, env, [SOURCE] if SOURCE in operator.wanted else [])
        g = members.lay_out(group_kinds(group), member, {}, {} if self.keep is None else {"end": "i64"})
        if self.keep is None:
            at = lookup(unit, w, "slot", g, key)
        else:
            since = w.let("since", f"clock.now - {unit.number(self.keep)}")
            at = swept_slot(unit, w, g, key, f"sweep_{members.name}({since})")
            w.line(f"evict_{members.name}({at}, {since})")
            self._write_evict(members)
        with w.block(f"if {g}.count[{at}] == {unit.number(self.window.size)}:"):
            w.line(f"leave_{members.name}({at}, {g}.{ALL}_first[{at}])")
        row = members.enter(w, at, member)
        if self.keep is not None:
            w.line(f"{g}.end[{row}] = clock.now")
        found = Env({**operator.event(env), **members.results(w, at)})
        found[START] = Code(w.let("start", members.first_start(at)), "True", "i")
        if SOURCE in operator.wanted:
            found[SOURCE] = members.source(w, at)
        operator.found(w, found)
        members.write_leave()

    def _write_evict(self, members: Sliding) -> None:
        """Write the functions that drop events which ended too long ago, in one group or in all."""
        g, name = members.groups, members.name
        w = Writer()
        with w.block(f"while {g}.{ALL}_first[at] != 0 and {g}.end[{g}.{ALL}_first[at]] < since:"):
            w.line(f"leave_{name}(at, {g}.{ALL}_first[at])")
        self.unit.function(f"evict_{name}", ["at: int", "since: int"], w)
        w = Writer()
        with w.block(f"for at in range({g}.slot_mask + 1):"), w.block(f"if {g}.count[at] > 0:"):
            w.line(f"evict_{name}(at, since)")
        self.unit.function(f"sweep_{name}", ["since: int"], w)
