"""Members: events of the rules of a family, one for each rule to which a match of the common rule belongs.

The constants of the members are rows of a table (`structures/members.py`), sorted by a threshold if there is one; the
first member that fails it ends the loop. Where a constant must equal a value of the match, the rows are looked up by
it. Null and NaN pass no threshold and equal no constant. Equal events of several members are one. State: none; the
matches of a step are expanded in that step, when the layer of the common rule is complete, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ensue.engine.generate.expressions import truth, value
from ensue.engine.generate.fields import SOURCE, START, Env, Field, used_by
from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.kinds import kind_of
from ensue.engine.operators.derive import Derived, derive_event
from ensue.engine.operators.keys import lookup
from ensue.engine.sharing.families import LENGTH, Column, Family
from ensue.engine.structures.members import MemberTable, members_layout
from ensue.language import typed
from ensue.records import dataclass


@dataclass(frozen=True)
class Expansion:
    """The members of a family as the source of a derived event.

    Where they derive events of several types, `heads` has the number of each member's; it is the first attribute then.
    """

    event: str
    family: Family
    heads: tuple[int, ...] = ()

    def columns(self) -> list[Column]:
        """The constants of the members, and the number of their type."""
        numbers = [Column("int", self.heads)] if self.heads else []
        return [*self.family.columns, *numbers]

    def kinds(self) -> list[str]:
        """The kinds of the constants."""
        return [kind_of(column.type) for column in self.columns()]


class Members(Operator):
    """The members of a family; see the module."""

    ordered = False

    def __init__(self, unit: Unit, expansion: Expansion, derived: Derived, layer: int) -> None:
        super().__init__(unit, "members", layer)
        self.expansion, self.derived = expansion, derived
        self.family = family = expansion.family
        self.kinds = expansion.kinds()
        head = list(family.head)
        if expansion.heads:
            head.insert(0, typed.Variable(f"={len(family.columns)}", "int"))
        self.terms = dict(zip(derived.columns, head, strict=True))
        constants = [(kind, column.values) for kind, column in zip(self.kinds, expansion.columns(), strict=True)]
        index = None if family.index is None else family.index.column
        layout = members_layout(self.kinds, index)
        self.table = unit.structure("constants", MemberTable, layout, len(family.members), constants, index)
        if index is not None:
            unit.indexes[family.number] = (self.table, self.kinds[index])
        unit.scans.setdefault(family.found.name, []).append(self)

    is_last = False

    def write(self) -> None:
        pass

    # --- code

    def take(self, w: Writer, attribute: Env) -> None:
        """Write the expansion of a match of the common rule; `attribute` has its attributes by name."""
        unit, family = self.unit, self.family
        env = self._found(w, attribute)
        with self._rows(w, env) as (first, past):
            member = w.fresh("member")
            with w.block(f"for {member} in range({first}, {past}):"):
                own = Env({**env, **self._constants(member)})
                if family.threshold is not None:
                    with w.block(f"if not ({truth(unit, w, family.threshold, own)}):"):
                        w.line("break")
                tests = [f"({truth(unit, w, condition, own)})" for condition in family.conditions]
                with w.when(all_of(*(test for test in tests if test != "(True)"))):
                    values = Env({field: value(unit, w, term, own) for field, term in self.terms.items()})
                    derive_event(unit, w, self.derived, own[START], own.get(SOURCE), values)

    def _found(self, w: Writer, attribute: Env) -> Env:
        """The attributes of the match under local names, so that they are read once for all members."""
        env = Env({START: attribute[START]})
        if self.unit.provenance:
            env[SOURCE] = attribute[SOURCE]
        family = self.family
        used = [
            *family.conditions,
            *family.head,
            family.threshold,
            None if family.index is None else family.index.value,
        ]
        for field in used_by(used):
            match field:
                case ("var", name) if name == LENGTH:
                    env[field] = w.held(Code(f"(clock.now - {attribute[START].value})", "True", "i"))
                case ("var", str(name)) if not name.startswith("="):
                    env[field] = w.held(attribute["attr", name])
        return env

    def _constants(self, member: str) -> dict[Field, Code]:
        return {
            ("var", f"={place}"): Code(f"{self.table}.c{place}[{member}]", "True", kind)
            for place, kind in enumerate(self.kinds)
        }

    @contextmanager
    def _rows(self, w: Writer, env: Env) -> Iterator[tuple[str, str]]:
        """Write code for the range of members that may apply, from the first to before the last name."""
        index = self.family.index
        if index is None:
            yield "0", f"{self.table}.count"
            return
        code = w.held(value(self.unit, w, index.value, env))
        with w.when(code.has_key):
            at = lookup(self.unit, w, "find", self.table, [code.bits])
            with w.block(f"if {at} >= 0:"):
                yield f"{self.table}.first[{at}]", f"{self.table}.past[{at}]"
