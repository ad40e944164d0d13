"""Rules of one shape that run as one: the places where their constants differ, and the values there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ensue.engine.assembly import CompilationUnit
from ensue.engine.operators.members import Expansion
from ensue.engine.sharing.families import LENGTH, Column, Family
from ensue.engine.sharing.shapes import names_of
from ensue.engine.units import families_of
from ensue.explain.explained import Differing, SameShape
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.temporal.describe import describe_expression


def same_shape_rules(program: typed.Program, units: Sequence[CompilationUnit]) -> Iterator[SameShape]:
    """The families of a program as it is run in units, in the order in which they are."""
    for family in families_of(units):
        yield _same_shape(family, program)


def rules_with(units: Sequence[CompilationUnit]) -> dict[str, tuple[int, ...]]:
    """The rules that have each of the parts that are built once, by number."""
    found: dict[str, tuple[int, ...]] = {}
    for unit in units:
        found |= {part.name: (part.number,) for part in unit.parts if part.number is not None}
        families = [part.rule.family for part in unit.parts if isinstance(part.rule, Expansion)]
        found |= {family.seed.name: tuple(family.members) for family in families}
        for part in reversed(unit.common):
            found[part.name] = tuple(sorted({number for user in part.users for number in found[user]}))
    return found


def _same_shape(family: Family, program: typed.Program) -> SameShape:
    order = sorted(range(len(family.members)), key=lambda place: family.members[place])
    members = tuple(family.members[place] for place in order)
    rule = program.rules[members[0]]
    names = names_of(rule, tuple(program.events[rule.event].attributes.values()))
    writer = _Writer(family, names, program)
    head = zip((name for name, _ in rule.head), family.head, strict=True)
    conditions = [*writer.index(), *([] if family.threshold is None else [family.threshold]), *family.conditions]
    places = [(_columns(condition), writer.condition(condition)) for condition in conditions]
    places += [(_columns(term), f"{name} = {writer.expression(term)}") for name, term in head]
    where = [text for columns, text in sorted(places, key=lambda place: place[0][:1]) if columns]
    ordered = None if family.threshold is None else _columns(family.threshold)[0]
    differing = [
        Differing(column.type, column.reordered(order).values, _use(number, column, family, ordered))
        for number, column in enumerate(family.columns)
    ]
    return SameShape(members, tuple(dict.fromkeys(where)), tuple(differing))


def _use(number: int, column: Column, family: Family, ordered: int | None) -> str | None:
    if family.index is not None and family.index.column == number:
        return "index"
    return "order" if number == ordered else None


def _columns(expression: typed.Expression | None) -> list[int]:
    """The columns of constants in an expression, from the smallest on."""
    match expression:
        case typed.Variable(name=name) if name.startswith("="):
            return [int(name[1:])]
        case typed.Operation(arguments=arguments):
            return sorted({column for argument in arguments for column in _columns(argument)})
        case _:
            return []


class _Writer:
    """Writes the conditions and terms of a family: ``$1`` is the first of the constants that differ."""

    def __init__(self, family: Family, names: Mapping[str, str], program: typed.Program) -> None:
        self.family = family
        self.names = names
        self.program = program
        self.terms = dict(family.common.head)
        self.attributes: dict[str, str] = {}
        self.events: dict[str, str] = {}
        for atom in atoms(family.common.body):
            if atom.label is not None:
                self.events[atom.label] = atom.event
            for attribute, term in atom.fields:
                if isinstance(term, typed.Variable):
                    self.attributes.setdefault(term.name, f"{atom.event}.{attribute}")

    def index(self) -> list[typed.Expression]:
        """The condition that the family's index replaces."""
        index = self.family.index
        if index is None:
            return []
        constant = typed.Variable(f"={index.column}", self.family.columns[index.column].type)
        return [typed.Operation("=", (index.value, constant), "bool")]

    def condition(self, condition: typed.Expression) -> str:
        match condition:
            case typed.Operation(name=name, arguments=(typed.Variable(name=variable), length)) if variable == LENGTH:
                return f"{'within' if name == '<=' else 'lasting'} {self.expression(length)}"
            case _:
                return self.expression(condition)

    def expression(self, expression: typed.Expression) -> str:
        return describe_expression(expression, self.program, self.name)

    def name(self, name: str) -> str | typed.Expression:
        """The text or term of the rule that a name of the family stands for."""
        if name in self.terms:
            return self.terms[name]
        match name[0]:
            case "=":
                return f"${int(name[1:]) + 1}"
            case "@":
                return self.attributes[name]
            case "#":
                return self.events[name]
            case _:
                return self.names[name]
