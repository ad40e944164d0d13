"""Fields of a match: its variables, the attributes and times of named events, scopes, aggregates, parts.

A field is a tuple that identifies one of these. Every match has a start; it ends when it is found, so its end is the
current time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ensue.engine.generate.writer import ANNOTATIONS, Code
from ensue.language import typed
from ensue.records import dataclass

Field = tuple[object, ...]
"""``("var", name)``, ``("attr", label, attribute)``, ``("time", label, "start" | "end")``: values of names. ``("span",
id, "start" | "end")``: the scope of an absence or a gathering; missing under an `or` whose other side was taken.
``("agg", aggregate)``: an aggregate of gathered members, ``("cell", aggregate, name)``: a cell of its state, see
`operators/aggregations.py`; ``("list", aggregate)``: an aggregate that is a list, by its number in
`structures/lists.py`. ``("part", number, "end" | "start" | "place" | "k")``: an event, timer or static row among the
parts of the match as written; parts are ordered by end, start and place in turn, and ``end`` and ``k`` together
identify an event (given events that are equal in every respect have one place); ``("part", number, "more")`` is the
chain of the following ones, where it stands for many. ``("source",)``: its inputs. ``("oldest",)``: the smallest end of
its events, and of its timers of absolute time.
"""

Env = dict[Field, Code]
"""The known fields at a place in the code; ``("start",)`` is the start of the current match."""

START: Field = ("start",)
SOURCE: Field = ("source",)
OLDEST: Field = ("oldest",)


@dataclass(frozen=True)
class Column:
    """A field in a call: its kind, and a flag that it may be null."""

    kind: str
    nullable: bool


def stem(field: Field) -> str:
    """A readable name for a field, an identifier.

    >>> stem(("attr", "o", "qty")), stem(("var", "per cent")), stem(("span", 7, "end"))
    ('o_qty', 'v_per_cent', 'span_7_end')
    """
    match field:
        case ("var", str(name)):
            words = ["v", name]
        case ("attr", label, attribute):
            words = [str(label), str(attribute)]
        case ("time", label, which):
            words = [str(label), str(which)]
        case ("agg", typed.Aggregate(name=name)):
            words = ["agg", name]
        case ("list", typed.Aggregate()):
            words = ["list"]
        case ("cell", typed.Aggregate(name=name), cell):
            words = ["agg", name, str(cell)]
        case _:
            words = [str(word) for word in field]
    return re.sub(r"\W", "_", "_".join(words), flags=re.ASCII) or "x"


def parameters(fields: Mapping[Field, Column]) -> tuple[list[str], Env]:
    """Parameters for fields, and the fields that they stand for. The start of a match comes first."""
    found, env = ["start: int"], Env({START: Code("start", "True", "i")})
    taken = {"start"}
    for field, column in fields.items():
        name = stem(field)
        while name in taken or name in RESERVED:
            name += "_"
        taken.add(name)
        found.append(f"{name}: {ANNOTATIONS[column.kind]}")
        valid = "True"
        if column.nullable:
            valid = f"{name}_ok"
            taken.add(valid)
            found.append(f"{valid}: bool")
        env[field] = Code(name, valid, column.kind)
    return found, env


RESERVED = frozenset({"t", "clock", "numbers", "values", "given"})


def arguments(fields: Mapping[Field, Column], env: Mapping[Field, Code]) -> list[str]:
    """The arguments for these parameters."""
    found = [env[START].value]
    for field, column in fields.items():
        code = env[field]
        found.append(code.value)
        if column.nullable:
            found.append(code.valid)
    return found


def names_of(expression: typed.Expression | None) -> Iterator[Field]:
    """The fields that an expression uses."""
    match expression:
        case typed.Variable(name=name):
            yield ("var", name)
        case typed.AttributeOf(label=label, attribute=attribute):
            yield ("attr", label, attribute)
        case typed.TimeOf(label=label, end=end):
            yield ("time", label, "end" if end else "start")
        case typed.Aggregate():
            yield ("agg", expression)
        case typed.Operation(arguments=terms) | typed.Holds(arguments=terms):
            for term in terms:
                yield from names_of(term)


def used_by(expressions: Iterable[typed.Expression | None]) -> list[Field]:
    return list(dict.fromkeys(field for expression in expressions for field in names_of(expression)))
