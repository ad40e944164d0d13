"""Expressions as source: a value, and a flag for its presence.

Numbers, truth values and equality of strings are code. Python computes everything else, once for each combination of
arguments, and a table remembers the result (`structures/calls.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ensue.engine.generate.comparisons import comparison
from ensue.engine.generate.fields import Env, names_of
from ensue.engine.generate.functions import function_of, quotient, remainder
from ensue.engine.generate.writer import NOTHING, Code, Writer, all_of, any_of
from ensue.engine.kinds import kind_of
from ensue.engine.sharing import families
from ensue.language import typed
from ensue.plan import late
from ensue.plan.outside import Outer

if TYPE_CHECKING:
    from ensue.engine.generate.unit import Unit

NULL = Code("0", "False", "i")


def truth(unit: Unit, w: Writer, condition: typed.Expression, env: Env) -> str:
    """Source that is true exactly where the condition is."""
    code = value(unit, w, condition, env)
    return all_of(code.valid, code.value) if code.kind == "b" else "False"


def value(unit: Unit, w: Writer, expression: typed.Expression, env: Env) -> Code:
    """Source for the value of an expression. Writes the lines that it needs."""
    match expression:
        case typed.Constant(value=constant, type=type_):
            return unit.constant(constant, type_)
        case Outer(of=name):
            (field,) = names_of(name)
            return unit.outer(field)
        case typed.Variable(name=name):
            return env["var", name]
        case typed.AttributeOf(label=label, attribute=attribute):
            return env["attr", label, attribute]
        case typed.TimeOf(label=label, end=end):
            return env["time", label, "end" if end else "start"]
        case typed.Aggregate():
            return env["agg", expression]
        case typed.Holds(arguments=terms):
            codes = [value(unit, w, term, env) for term in terms if term is not None]
            known = all_of(*(code.has_key for code in codes))
            answer = unit.called(w, expression, codes, known)
            return w.held(Code(all_of(known, answer.value), "True", "b"))
        case typed.Operation(name=families.AMONG, arguments=(term, typed.Constant(value=family))):
            return _among(unit, w, value(unit, w, term, env), family)
        case typed.Operation(name="if_else", arguments=(condition, one, other), type=type_):
            test = truth(unit, w, condition, env)
            codes = [value(unit, w, term, env) for term in (one, other)]
            kind = kind_of(type_)
            first, second = (convert(unit, w, code, kind) for code in codes)
            choose = w.let("ok", test)
            chosen = f"({first.value} if {choose} else {second.value})"
            valid = f"({first.valid} if {choose} else {second.valid})"
            return w.held(Code(chosen, valid if valid != f"(True if {choose} else True)" else "True", kind))
        case typed.Operation(name=name, arguments=terms):
            codes = [value(unit, w, term, env) for term in terms]
            return w.held(_operation(unit, w, expression, name, codes))


def _operation(unit: Unit, w: Writer, operation: typed.Operation, name: str, codes: list[Code]) -> Code:
    kinds = "".join(code.kind for code in codes)
    if operation.own is not None:
        return unit.called(w, operation, codes)
    match name:
        case "not" if kinds == "b":
            return Code(f"(not {codes[0].value})", codes[0].valid, "b")
        case "and" if set(kinds) <= {"b"}:
            return _logic(codes, "and")
        case "or" if set(kinds) <= {"b"}:
            return _logic(codes, "or")
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            found = comparison(w, name, *codes)
            return found or unit.called(w, operation, codes)
        case "in":
            return _in(unit, w, operation, codes)
        case "like" | "ilike":
            return unit.called(w, operation, codes)
        case "+" | "-" | "*" | "/":
            return _arithmetic(w, name, *codes) or unit.called(w, operation, codes)
        case "//":
            return quotient(unit, w, codes) or unit.called(w, operation, codes)
        case "%":
            return remainder(unit, w, codes) or unit.called(w, operation, codes)
        case "neg" if kinds == "i":
            return Code(f"wrap(-{codes[0].value})", codes[0].valid, "i")
        case "neg" if kinds == "f":
            return Code(f"(-{codes[0].value})", codes[0].valid, "f")
        case "is_null":
            return Code(f"(not ({codes[0].valid}))", "True", "b")
        case "is_not_null":
            return Code(f"({codes[0].valid})", "True", "b")
        case "coalesce":
            kind = kind_of(operation.type)
            return _coalesce(w, [convert(unit, w, code, kind) for code in codes], kind)
        case "and" | "or" | "not" | "neg":
            return unit.called(w, operation, codes)
        case late.ROW | late.LATE:
            return unit.called(w, operation, codes)
        case _:
            return function_of(unit, w, operation, codes)


def _in(unit: Unit, w: Writer, operation: typed.Operation, codes: list[Code]) -> Code:
    """Source for membership in a list of values: comparisons, of which one that holds is enough."""
    operand, *others = (w.held(code) for code in codes)
    null = Code("False", "False", "b")
    found = [null if other.valid == "False" else comparison(w, "=", operand, other) for other in others]
    known = [code for code in found if code is not None]
    return _logic(known, "or") if len(known) == len(found) else unit.called(w, operation, codes)


def _among(unit: Unit, w: Writer, code: Code, family: object) -> Code:
    """Source for membership in the constants of a family's index. It only saves work: members check again."""
    table, kind = unit.indexes[family]
    if code.kind != kind:
        return Code("True", "True", "b")
    code = w.held(code)
    unit.keys(1)
    return Code(w.let("ok", all_of(code.has_key, f"find_1({table}, {code.bits}) >= 0")), "True", "b")


def equal(unit: Unit, w: Writer, left: Code, right: Code) -> str:
    """Source for the equality of two values; null and NaN equal nothing."""
    if left.kind == right.kind:
        return all_of(left.has_key, right.has_key, f"{left.bits} == {right.bits}")
    if {left.kind, right.kind} == {"i", "f"}:
        whole, fraction = (left, right) if left.kind == "i" else (right, left)
        return all_of(left.valid, right.valid, f"above({whole.value}, {fraction.value}) == 0")
    if "o" in (left.kind, right.kind):
        return equal(unit, w, *(w.held(convert(unit, w, code, "o")) for code in (left, right)))
    return "False"


def convert(unit: Unit, w: Writer, code: Code, kind: str) -> Code:
    """A value converted to another kind: an integer to a float, and any value to one of the dictionary."""
    if code.kind == kind or code.valid == "False":
        return Code(code.value if code.kind == kind else NOTHING[kind], code.valid, kind)
    match code.kind, kind:
        case "i", "f":
            return Code(f"float({code.value})", code.valid, "f")
        case "s", "o":
            return Code(code.value, code.valid, "o")
        case _:
            return unit.called(
                w, typed.Operation(f"as {kind}", (typed.Variable("x", _type(code.kind)),), _type(kind)), [code]
            )


def _type(kind: str) -> str:
    return {"i": "int", "f": "float", "b": "bool", "s": "string", "o": "any"}[kind]


def _logic(codes: list[Code], word: str) -> Code:
    """Three-valued logic: one decisive value is enough."""
    decisive = [all_of(c.valid, f"{'not ' if word == 'and' else ''}{c.value}") for c in codes]
    known = all_of(*(c.valid for c in codes))
    valid = known if known == "True" else any_of(f"({known})", *(f"({d})" for d in decisive))
    truths = [f"({all_of(c.valid, c.value)})" for c in codes]
    return Code(f"({f' {word} '.join(truths)})", valid, "b")


def _arithmetic(w: Writer, name: str, left: Code, right: Code) -> Code | None:
    kinds = left.kind + right.kind
    if kinds not in ("ii", "if", "fi", "ff"):
        return None
    valid = all_of(left.valid, right.valid)
    one, other = (c.value if c.kind == "f" else f"float({c.value})" for c in (left, right))
    if name in "+-*":
        if kinds == "ii":
            return Code(f"wrap({left.value} {name} {right.value})", valid, "i")
        return Code(f"({one} {name} {other})", valid, "f")
    there = w.let("ok", all_of(valid, f"{right.value} != {NOTHING[right.kind]}"))
    return Code(f"({one} / {other} if {there} else 0.0)", there, "f")


NESTED = 20
"""Alternatives in one expression; Python reads no more than 200 parentheses in each other."""


def _coalesce(w: Writer, codes: list[Code], kind: str) -> Code:
    chosen, valid = codes[-1].value, codes[-1].valid
    for place, code in enumerate(reversed(codes[:-1]), 1):
        if place % NESTED == 0:
            chosen, valid = w.let("x", chosen), w.let("ok", valid)
        if code.valid != "True":
            test = code.valid if code.valid != "False" else "False"
            chosen = f"({code.value} if {test} else {chosen})"
            valid = any_of(test, valid)
        else:
            chosen, valid = code.value, "True"
    return Code(chosen, valid, kind)


Evaluate = Callable[..., object]
