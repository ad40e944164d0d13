"""`a(x, y) … where x = 3` becomes `a(x, y) …` of those events only whose `x` is 3: selections are pushed down.

Contexts and policies choose instances first and check conditions on the chosen ones, so there conditions stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.language import typed
from ensue.language.walk import conjuncts, constituents
from ensue.temporal.constraints import Events, selects


def select_constants(body: typed.Body, events: Events) -> typed.Body:
    if body.pattern is None or body.window is not None or selects(body):
        return body
    known = {name for atom in constituents(body.pattern) for _, name in _variables(atom)}
    constants: dict[str, typed.Constant] = {}
    where = []
    for condition in (conjunct for each in body.where for conjunct in conjuncts(each)):
        found = _equality(condition)
        if found is not None and found[0].name in known and found[0].name not in constants:
            constants[found[0].name] = found[1]
        else:
            where.append(condition)
    if not constants:
        return body
    return replace(body, pattern=_selected(body.pattern, constants), where=tuple(where))


def _equality(condition: typed.Expression) -> tuple[typed.Variable, typed.Constant] | None:
    """A variable and the constant that it must equal; floats are left out, since 0.0 equals -0.0."""
    match condition:
        case typed.Operation(name="=", arguments=(typed.Variable() as variable, typed.Constant() as constant)):
            pass
        case typed.Operation(name="=", arguments=(typed.Constant() as constant, typed.Variable() as variable)):
            pass
        case _:
            return None
    same = variable.type == constant.type and constant.type in ("int", "string") and constant.value is not None
    return (variable, constant) if same else None


def _variables(atom: typed.Atom) -> Iterator[tuple[str, str]]:
    for attribute, term in atom.fields:
        if isinstance(term, typed.Variable):
            yield attribute, term.name


def _selected(pattern: typed.Pattern, constants: dict[str, typed.Constant]) -> typed.Pattern:
    match pattern:
        case typed.Atom(fields=fields):
            more = [(attribute, constants[name]) for attribute, name in _variables(pattern) if name in constants]
            return replace(pattern, fields=(*fields, *more)) if more else pattern
        case typed.Pair(left=left, right=right):
            return replace(pattern, left=_selected(left, constants), right=_selected(right, constants))
        case typed.Lacking(pattern=inner):
            return replace(pattern, pattern=_selected(inner, constants))
        case _:
            return pattern
