"""Expressions as source: a value, and whether there is one. What has no number for its type is not compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ensue.engine.compiled.writing import Writer, all_of
from ensue.engine.sharing.families import AMONG
from ensue.language import typed

KINDS = {"int": "i", "time": "i", "timestamp": "i", "bool": "b", "float": "f", "string": "s"}
"""How values of a type are held: as integers, truth values (0 and 1), floats, codes of strings."""


class NotCompiledError(Exception):
    """Something that the compiled lane leaves to the other one, and why."""


@dataclass(frozen=True)
class Code:
    """Source for a value, and for whether it is there; of a kind."""

    value: str
    valid: str
    kind: str


def kind_of(type_: str) -> str:
    if type_ not in KINDS:
        raise NotCompiledError(f"a value of type {type_}")
    return KINDS[type_]


Find = Callable[[typed.Expression], Code]
"""What a variable, an attribute, a time or an aggregate stands for."""


@dataclass(frozen=True)
class Expressions:
    """Writes expressions.

    `strings` gives codes for constants, `knob` source for numbers, `asked` what is asked of a static predicate.
    """

    writer: Writer
    strings: Callable[[str], int]
    knob: Callable[[Any, int | float, str], str]
    asked: Callable[[str, Sequence[Code | None]], Code]

    def truth(self, condition: typed.Expression, find: Find) -> str:
        """Source that is true exactly where the condition is."""
        code = self.code(condition, find)
        return all_of(code.valid, _bool(code))

    def code(self, expression: typed.Expression, find: Find) -> Code:
        match expression:
            case typed.Constant(value=value, type=type_):
                return self._constant(value, type_)
            case typed.Operation():
                return self._operation(expression, find)
            case typed.Holds(predicate=predicate, arguments=terms):
                return self.asked(predicate, [None if term is None else self.code(term, find) for term in terms])
            case _:
                return find(expression)

    def _constant(self, value: typed.Value, type_: str) -> Code:
        match value:
            case None:
                return Code("0", "False", "i")
            case bool():
                return Code(str(int(value)), "True", "b")
            case str():
                return Code(self._stated(self.strings(value), "s"), "True", "s")
            case float():
                return Code(self._stated(value, "f"), "True", "f")
            case int():
                if type_ == "float":
                    return Code(self._stated(float(value), "f"), "True", "f")
                return Code(self._stated(value, "i"), "True", "i")
            case _:
                raise NotCompiledError("a list")

    def _stated(self, value: int | float, kind: str) -> str:
        return self.knob(("constant", kind, repr(value)), value, kind)

    def _operation(self, operation: typed.Operation, find: Find) -> Code:
        name = operation.name
        if name == AMONG:
            return self._among(operation, find)
        codes = [self.code(argument, find) for argument in operation.arguments]
        if name in LOGIC:
            return self._let(LOGIC[name](codes))
        if name in ("=", "!=", "<", "<=", ">", ">="):
            return self._comparison(name, *codes)
        if name in ("+", "-", "*", "/", "//", "%", "mod"):
            return self._arithmetic(name, *codes)
        if name in FUNCTIONS:
            return self._let(FUNCTIONS[name](codes, kind_of(operation.type)))
        raise NotCompiledError(f"the function {name}")

    def _among(self, operation: typed.Operation, find: Find) -> Code:
        """Whether a value is among the constants of a family."""
        value, number = self.code(operation.arguments[0], find), operation.arguments[1]
        assert isinstance(number, typed.Constant)
        n = number.value
        return Code(f"(find1(MT{n}, MV{n}, {value.value}) >= 0)", value.valid, "b")

    def _let(self, code: Code) -> Code:
        value = self.writer.let("x", code.value)
        valid = code.valid if code.valid in ("True", "False") else self.writer.let("k", code.valid)
        return Code(value, valid, code.kind)

    def _comparison(self, name: str, left: Code, right: Code) -> Code:
        operator = {"=": "=="}.get(name, name)
        valid = all_of(left.valid, right.valid)
        kinds = left.kind + right.kind
        if "s" in kinds:
            if kinds != "ss" or name not in ("=", "!="):
                raise NotCompiledError("strings in order")
        elif kinds in ("if", "fi"):
            whole, fraction = (left, right) if left.kind == "i" else (right, left)
            order = self.writer.let("x", f"above({whole.value}, {fraction.value})")
            if left.kind == "f":
                operator = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
            if operator == "!=":
                return Code(f"({order} != 0)", valid, "b")
            return Code(f"({order} != 2 and {order} {operator} 0)", valid, "b")
        elif "b" in kinds and kinds != "bb":
            raise NotCompiledError("a truth value compared with a number")
        return Code(f"({left.value} {operator} {right.value})", valid, "b")

    def _arithmetic(self, name: str, left: Code, right: Code) -> Code:
        if left.kind not in "if" or right.kind not in "if":
            raise NotCompiledError("arithmetic on what is no number")
        kind = "f" if "f" in left.kind + right.kind else "i"
        valid = all_of(left.valid, right.valid)
        if name in "+-*":
            return self._let(Code(f"{_to(left, kind)} {name} {_to(right, kind)}", valid, kind))
        nonzero = f"{right.value} != 0"
        valid = all_of(valid, nonzero)
        flag = self.writer.let("k", valid)
        if name == "/":
            source = f"np.float64({left.value}) / np.float64({right.value}) if {flag} else 0.0"
            return Code(self.writer.let("x", source), flag, "f")
        if kind == "f":
            raise NotCompiledError(f"{name} of floats")
        function = "floor_divide" if name == "//" else "remainder"
        source = f"{function}({left.value}, {right.value}) if {flag} else np.int64(0)"
        return Code(self.writer.let("x", source), flag, "i")


def as_kind(code: Code, kind: str) -> Code:
    """A value as one of a kind is held: an integer may be a float, and a truth value is 0 or 1."""
    if (code.kind, kind) == ("i", "f"):
        return Code(f"np.float64({code.value})", code.valid, "f")
    if code.kind != kind:
        raise NotCompiledError("values of several kinds")
    return Code(f"(1 if {code.value} else 0)", code.valid, "b") if kind == "b" else code


def _bool(code: Code) -> str:
    return code.value if code.value.startswith("(") else f"({code.value} != 0)"


def _to(code: Code, kind: str) -> str:
    return f"np.float64({code.value})" if kind == "f" and code.kind == "i" else code.value


def _not(codes: list[Code]) -> Code:
    (one,) = codes
    return Code(f"(not {_bool(one)})", one.valid, "b")


def _and(codes: list[Code]) -> Code:
    false = [f"({all_of(c.valid, f'not {_bool(c)}')})" for c in codes]
    true = [f"({all_of(c.valid, _bool(c))})" for c in codes]
    known = all_of(*(c.valid for c in codes))
    valid = "True" if known == "True" else f"(({known}) or {' or '.join(false)})"
    return Code(f"({' and '.join(true)})", valid, "b")


def _or(codes: list[Code]) -> Code:
    true = [f"({all_of(c.valid, _bool(c))})" for c in codes]
    known = all_of(*(c.valid for c in codes))
    valid = "True" if known == "True" else f"(({known}) or {' or '.join(true)})"
    return Code(f"({' or '.join(true)})", valid, "b")


def _is_null(codes: list[Code]) -> Code:
    return Code(f"(not ({codes[0].valid}))", "True", "b")


def _is_not_null(codes: list[Code]) -> Code:
    return Code(f"({codes[0].valid})", "True", "b")


LOGIC: Mapping[str, Callable[[list[Code]], Code]] = {
    "not": _not, "and": _and, "or": _or, "is_null": _is_null, "is_not_null": _is_not_null,
}  # fmt: skip


def _same_kind(codes: list[Code], kind: str) -> list[Code]:
    for code in codes:
        if code.kind != kind and code.valid != "False" and (code.kind, kind) != ("i", "f"):
            raise NotCompiledError("values of several kinds")
    return [Code(_to(code, kind), code.valid, kind) for code in codes]


def _number(codes: list[Code]) -> Code:
    (one,) = codes
    if one.kind not in "if":
        raise NotCompiledError("a number of what is none")
    return one


def _neg(codes: list[Code], kind: str) -> Code:
    one = _number(codes)
    return Code(f"-{_to(one, kind)}", one.valid, kind)


def _abs(codes: list[Code], kind: str) -> Code:
    one = _number(codes)
    return Code(f"abs({_to(one, kind)})", one.valid, kind)


def _if_else(codes: list[Code], kind: str) -> Code:
    condition = codes[0]
    then, otherwise = _same_kind(codes[1:], kind)
    taken = f"({all_of(condition.valid, _bool(condition))})"
    valid = "True" if then.valid == otherwise.valid == "True" else f"({then.valid} if {taken} else {otherwise.valid})"
    return Code(f"({then.value} if {taken} else {otherwise.value})", valid, kind)


def _coalesce(codes: list[Code], kind: str) -> Code:
    *most, last = _same_kind(codes, kind)
    value, valid = last.value, last.valid
    for code in reversed(most):
        value = f"({code.value} if {code.valid} else {value})"
        valid = "True" if "True" in (code.valid, valid) else f"({code.valid} or {valid})"
    return Code(value, valid, kind)


def _to_float(codes: list[Code], kind: str) -> Code:
    one = _number(codes)
    return Code(f"np.float64({one.value})", one.valid, "f")


FUNCTIONS: Mapping[str, Callable[[list[Code], str], Code]] = {
    "neg": _neg, "abs": _abs, "if_else": _if_else, "coalesce": _coalesce, "float": _to_float,
}  # fmt: skip
