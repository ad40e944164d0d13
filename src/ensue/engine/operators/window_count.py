"""``while last 1000: collect p``: at each event, that one and up to 999 before it in its group.

Events of one step come in their order, and each sees those before it. State: the last so many events of each group, for
ever; cost as `sliding.py` says.
"""

from __future__ import annotations

from ensue.engine.generate.fields import SOURCE, START, Env
from ensue.engine.generate.writer import Code, Writer
from ensue.engine.operators.keys import lookup
from ensue.engine.operators.sliding import ALL, Sliding, group_key, group_kinds
from ensue.engine.operators.window import Kind
from ensue.temporal.instants import instantaneous


class CountWindow(Kind):
    """The last so many events; see the module."""

    def take(self, w: Writer, env: Env) -> None:
        unit, operator = self.unit, self.operator
        instant = instantaneous(self.window.pattern, unit.events)
        members = Sliding(operator, self.wanted, by_start=False, starts=not instant)
        group = self.group(w, env)
        key = group_key(w, group)
        member = members.member(w, env, [SOURCE] if SOURCE in operator.wanted else [])
        g = members.lay_out(group_kinds(group), member, {}, {})
        at = lookup(unit, w, "slot", g, key)
        with w.block(f"if {g}.count[{at}] == {unit.number(self.window.size)}:"):
            w.line(f"leave_{members.name}({at}, {g}.{ALL}_first[{at}])")
        members.enter(w, at, member)
        found = Env({**env, **members.results(w, at)})
        found[START] = Code(w.let("start", members.first_start(at)), "True", "i")
        if SOURCE in operator.wanted:
            found[SOURCE] = members.source(w, at)
        operator.found(w, found)
        members.write_leave()
