"""Events at hand, and where their attributes are: in a row of the input, or in one that was derived in this step."""

from __future__ import annotations

from ensue.engine.compiled.expressions import Code
from ensue.engine.compiled.unit import Arrival, Source, Unit


def given(unit: Unit, event: str, row: str = "r") -> Arrival:
    """An event in a row of the input."""
    return Arrival(event, f"start[{row}]", given_attributes(unit, event, row), row, row)


def given_attributes(unit: Unit, event: str, row: str = "r") -> Source:
    def attribute(name: str) -> Code:
        kind = unit.kind(event, name)
        index = unit.layout.input(event, name, kind)
        return Code(f"c{index}[{row}]", f"(v{index}[{row}] != 0)" if unit.nulls else "True", kind)

    return attribute


def derived(unit: Unit, event: str, row: str = "r") -> Arrival:
    """An event that was derived in this step."""
    n, kinds = unit.layout.derived[event].number, unit.layout.derived[event].kinds
    names = list(unit.events[event].attributes)

    def attribute(name: str) -> Code:
        index = names.index(name)
        kind = kinds[index]
        value = f"{'E' if kind == 'f' else 'D'}{n}[{row}, {3 + index}]"
        if not unit.nullable(event, name):
            return Code(value, "True", kind)
        return Code(value, f"((D{n}[{row}, 2] & np.int64({1 << index})) != 0)", kind)

    return Arrival(event, f"D{n}[{row}, 0]", attribute, None, row)
