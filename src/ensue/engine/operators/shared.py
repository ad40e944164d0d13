"""View and Keeping: parts that are built once for several rules, or several times in one (`sharing/parts.py`).

A view is such a part as one of its rules sees it: it has the rule's names, and passes on no match that is too long for
the rule. A part stores matches as long as any of its rules needs them. Where joins of several rules probe the same
matches by the same key, one store holds them. State: that store; a view has none.
"""

from __future__ import annotations

from ensue.engine.generate.fields import START, Column, Env, Field
from ensue.engine.generate.operator import Operator, Passing, read_row, row_fields
from ensue.engine.generate.unit import Unit
from ensue.engine.generate.writer import Code, Writer, all_of
from ensue.engine.operators.scan import Scan
from ensue.engine.operators.storing import store_match
from ensue.engine.structures.store import Store, store_layout
from ensue.plan import operators as plan
from ensue.plan.walk import walk


class Keeping(Passing):
    """Matches that are stored, and passed on; see the module. Null correlates with nothing, and is not stored."""

    def __init__(self, unit: Unit, node: plan.Keep, input_: Operator, layer: int) -> None:
        super().__init__(unit, "keep", input_, layer)
        self.node = node
        self.name_of_store: str | None = None
        input_.want(node.key)

    def store(self) -> str:
        """The store; its layout is fixed when its own part is written, before any join that probes it."""
        if self.name_of_store is None:
            assert self.unit.owner == self.owner
            kinds = "".join("s" if self.input.column(field).kind in "so" else "i" for field in self.node.key)
            self.name_of_store = self.by_key("kept", Store, store_layout(row_fields(self.input.columns)), kinds)
        return self.name_of_store

    def take(self, w: Writer, env: Env) -> None:
        unit, store, life = self.unit, self.store(), self.node.lifetime
        codes = [env[field] for field in self.node.key]
        parts = [w.let("key", code.bits) for code in codes]
        with w.when(all_of(*(code.has_key for code in codes))):
            store_match(unit, w, store, parts, env, self.input.columns, life.end, life.start)
        self.push(w, env)


class View(Operator):
    """A part with the names of a rule; see the module."""

    def __init__(self, unit: Unit, node: plan.Shared, part: Operator, layer: int) -> None:
        super().__init__(unit, "view", layer)
        self.node, self.part, self.key = node, part, node.key
        part.feed(self.take)

    def _of(self, field: Field) -> Field:
        found = self.node.renaming.field(field)
        assert found is not None
        return found

    def require(self, fields: list[Field]) -> None:
        self.part.want(map(self._of, fields))

    def has(self, field: Field) -> bool:
        found = self.node.renaming.field(field)
        return found is not None and self.part.has(found)

    def column(self, field: Field) -> Column:
        return self.part.column(self._of(field))

    @property
    def parts(self) -> int:
        return self.part.parts

    def own_scan(self, atom: int) -> Scan | None:
        """A scan of its own: the fields that the rule has of an event of the part."""
        scans = (each for each in walk(self.node.input) if isinstance(each, plan.Scan) and each.atom.id == atom)
        return next((Scan(self.unit, scan, self.layer) for scan in scans), None)

    def store(self) -> str:
        """The store of the part."""
        assert isinstance(self.part, Keeping)
        return self.part.store()

    def row(self, place: str) -> Env:
        """The fields of a row of that store."""
        assert isinstance(self.part, Keeping)
        held = read_row(self.part.store(), place, self.part.input.columns)
        return Env({field: held[self._of(field)] for field in self.wanted})

    def take(self, w: Writer, env: Env) -> None:
        if not self.consumers:
            return  # joins find its matches in the store only
        longest = self.node.longest
        test = "True" if longest is None else f"clock.now - {env[START].value} <= {self.unit.number(longest)}"
        with w.when(test):
            own: dict[Field, Code] = {field: env[self._of(field)] for field in self.wanted}
            self.push(w, Env({START: env[START], **own}))


def stored_by(operator: Operator) -> Operator:
    """The operator whose matches a store holds: that of the shared part, if it is one."""
    if isinstance(operator, View) and isinstance(operator.part, Keeping):
        return operator.part.input
    return operator
