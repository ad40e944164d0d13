"""Patterns and lengths of time in the syntax of the language, for readers of a plan."""

from __future__ import annotations

import json
from collections.abc import Callable

from ensue.language import typed
from ensue.language.walk import atoms

A_TIMER = "a timer"
"""Phrase for the events of a pattern that has none."""

_UNITS = (("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1))


def describe_pattern(pattern: typed.Pattern, length: Callable[[int], str] = str) -> str:
    """A pattern in a few words; `length` formats lengths of time.

    >>> x = typed.Variable("x", "int")
    >>> describe_pattern(typed.Atom(1, "order", (("id", x), ("qty", typed.Constant(2, "int"))), "o"))
    'o: order(id=x, qty=2)'
    """
    match pattern:
        case typed.Atom(event=event, fields=fields, label=label):
            terms = [(name, describe_term(term)) for name, term in fields]
            written = ", ".join(term if name == term else f"{name}={term}" for name, term in terms)
            return f"{f'{label}: ' if label is not None else ''}{event}({written})"
        case typed.Moment(time=time):
            return f"at({time})"
        case typed.Periodic(period=period):
            return f"every({length(period)})"
        case typed.Run(pattern=inner, count=count):
            return f"{describe_pattern(inner)}{{{count}}}"
        case typed.Lacking(pattern=inner):
            return describe_pattern(inner)
        case typed.Nested(label=label) if label is not None:
            return label
        case _:
            return describe_events(pattern)


def describe_scope(scope: typed.During) -> str:
    """The name of a window with brackets that show which ends are included.

    >>> describe_scope(typed.During("w")), describe_scope(typed.During("w", from_start=True))
    ('w', '[w)')
    """
    if not (scope.from_start or scope.to_end):
        return scope.label
    return f"{'[' if scope.from_start else '('}{scope.label}{']' if scope.to_end else ')'}"


def describe_events(pattern: typed.Pattern) -> str:
    """The names of the events in a pattern, each once."""
    return ", ".join(dict.fromkeys(_constituents(pattern))) or A_TIMER


def _constituents(pattern: typed.Pattern) -> list[str]:
    match pattern:
        case typed.Atom(event=event):
            return [event]
        case typed.Pair(left=left, right=right):
            return _constituents(left) + _constituents(right)
        case typed.Either(alternatives=alternatives):
            return [name for each in alternatives for name in _constituents(each)]
        case typed.Lacking(pattern=inner) | typed.Run(pattern=inner):
            return _constituents(inner)
        case typed.Nested(body=body):
            if body.pattern is None:
                return [atom.event for atom in atoms(body)]
            return _constituents(body.pattern)
        case _:
            return []


def describe_term(term: typed.Variable | typed.Constant) -> str:
    if isinstance(term, typed.Variable):
        return term.name if term.name.isidentifier() else "_"
    match term.value:
        case bool(value):
            return str(value).lower()
        case str(value):
            return json.dumps(value, ensure_ascii=False)
        case None:
            return "null"
        case value:
            return str(value)


_COMPARED = ("=", "!=", "<", "<=", ">", ">=", "like", "ilike")
_LOOSEST = (("or",), ("and",), ("not",), _COMPARED, ("+", "-"), ("*", "/", "//", "%"), ("neg",))
_LEVELS = {name: level for level, names in enumerate(_LOOSEST) for name in names}

Names = Callable[[str], str | typed.Expression]
"""Gives the text for a variable or a label, or the expression that it stands for."""


def describe_expression(expression: typed.Expression, program: typed.Program, name: Names = str, level: int = 0) -> str:
    """An expression in the syntax of the language; operators below `level` get parentheses.

    >>> program = typed.Program({}, (), (), {}, (), (), (), (), None, False)
    >>> x, two = typed.Variable("x", "int"), typed.Constant(2, "int")
    >>> product = typed.Operation("*", (typed.Operation("+", (x, two), "int"), typed.TimeOf("o", True)), "int")
    >>> describe_expression(typed.Operation(">", (product, two), "bool"), program)
    '(x + 2) * o.end > 2'
    """

    def inner(part: typed.Expression, level: int = 0) -> str:
        return describe_expression(part, program, name, level)

    match expression:
        case typed.Constant(value=int(value), type="time"):
            return describe_length(value, program)
        case typed.Constant():
            return describe_term(expression)
        case typed.Variable(name=variable):
            found = name(variable)
            return found if isinstance(found, str) else inner(found, level)
        case typed.AttributeOf(label=label, attribute=attribute):
            return f"{name(label)}.{attribute}"
        case typed.TimeOf(label=label, end=end):
            return f"{name(label)}.{'end' if end else 'start'}"
        case typed.Operation(name=operator, arguments=arguments) if operator in _LEVELS:
            own = _LEVELS[operator]
            operands = [inner(argument, own + (place > 0)) for place, argument in enumerate(arguments)]
            unary = {"not": "not ", "neg": "-"}.get(operator)
            text = f" {operator} ".join(operands) if unary is None else f"{unary}{operands[0]}"
            return f"({text})" if own < level else text
        case typed.Operation(name="in", arguments=(first, *others)):
            text = f"{inner(first, _LEVELS['+'])} in ({', '.join(inner(other, _LEVELS['+']) for other in others)})"
            return f"({text})" if _LEVELS["="] < level else text
        case typed.Operation(name=function, arguments=arguments):
            return f"{function}({', '.join(map(inner, arguments))})"
        case typed.Holds(predicate=predicate, arguments=terms):
            return f"{predicate}({', '.join('_' if term is None else inner(term) for term in terms)})"
        case typed.Aggregate(name="count_distinct", argument=argument) if argument is not None:
            return f"count(distinct {inner(argument)})"
        case typed.Aggregate(name=function, argument=argument, constants=(fraction,)) if argument is not None:
            return f"{function}({inner(argument)}, {fraction})"
        case typed.Aggregate(name=function, argument=argument):
            return f"{function}({'…' if argument is None else inner(argument)})"


def describe_relation(relation: typed.Relation, length: Callable[[int], str] = str) -> str:
    """The word of a relation, with its bounds if it has any; `length` formats lengths of time."""
    bounds = [_bound(d.low, d.high, length) for d in relation.distances if d.high is not None or d.low not in (0, 1)]
    tolerances = {d.high for d in relation.distances if d.low is not None and d.high == -d.low}
    if relation.word in ("meets", "met_by", "starts", "started_by", "finishes", "finished_by", "equals"):
        tolerance = max((t for t in tolerances if t is not None), default=0)
        return f"{relation.word}[{length(tolerance)}]" if tolerance else relation.word
    return f"{relation.word}[{', '.join(bounds)}]" if bounds else relation.word


def _bound(low: int | None, high: int | None, length: Callable[[int], str]) -> str:
    if low is not None and low == high:
        return length(low)
    shown = "" if low is None or (low == 1 and high is not None) else length(low)
    return f"{shown}..{'' if high is None else length(high)}"


def describe_length(length: int, program: typed.Program) -> str:
    """A length of time with its unit, where the program states one.

    >>> program = typed.Program({}, (), (), {}, (), (), (), (), "s", True)
    >>> describe_length(21600, program), describe_length(90, program)
    ('6h', '1m30s')
    """
    if not program.durations and program.unit is None:
        return str(length)
    rest = length * dict(_UNITS)[program.unit or "us"]
    if rest == 0:
        return "0"
    sign, rest, text = ("-" if rest < 0 else ""), abs(rest), ""
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return sign + text
