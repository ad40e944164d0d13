"""Functions of the language in generated code, where native code is cheap.

Functions are records of the language (`language/functions.py`). The meaning of one that is marked `machine` is called
as it is; for others a writer of native code is optional. Without one, or for other kinds of arguments, Python is called
once for each combination of arguments, and a table remembers the result (`Unit.called`). An unknown name is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, get_type_hints

from ensue.engine.generate.comparisons import comparison
from ensue.engine.generate.writer import NOTHING, Code, Writer, all_of, any_of
from ensue.engine.kinds import kind_of
from ensue.engine.structures import functions as kernels
from ensue.engine.structures import new_texts
from ensue.engine.structures.hashing import mixed_text
from ensue.engine.subset.source import source_of
from ensue.language import calendar, typed
from ensue.language.calendar import PARTS
from ensue.language.functions import FUNCTIONS, Meaning

if TYPE_CHECKING:
    from ensue.engine.generate.unit import Unit

Native = Callable[["Unit", Writer, list[Code]], Code | None]
"""Writes code for arguments of some kinds; returns None for others."""


def function_of(unit: Unit, w: Writer, operation: typed.Operation, codes: Sequence[Code]) -> Code:
    """The value of a function."""
    record = FUNCTIONS.get(operation.name)
    if record is None:
        raise LookupError(f"there is no function {operation.name}")
    native = NATIVE.get(operation.name)
    if operation.name in NATIVE_CASES:
        found = cased(unit, w, operation, codes)
    elif record.machine:
        found = _called(unit, w, record.meaning, codes)
    elif operation.name in PARTS and len(codes) == 1:
        found = _part_of(unit, w, PARTS[operation.name], codes)
    elif operation.name == "date_trunc":
        found = _begin(unit, w, operation, codes)
    else:
        found = None if native is None else native(unit, w, list(codes))
    if found is None:
        return unit.called(w, operation, codes)
    if found.kind == "i" and kind_of(operation.type) == "f":
        return Code(f"float({found.value})", found.valid, "f")
    return found


KINDS = {int: "i", float: "f", bool: "b"}


def _called(unit: Unit, w: Writer, meaning: Meaning, codes: Sequence[Code]) -> Code | None:
    """A call of a function that is machine code itself, with integers as floats where it takes these."""
    *parameters, result = (KINDS[type_] for type_ in get_type_hints(meaning).values())
    if any((code.kind, kind) not in TAKEN for code, kind in zip(codes, parameters, strict=True)):
        return None
    unit.use(source_of(meaning))
    arguments = [_float(code) if kind == "f" else code.value for code, kind in zip(codes, parameters, strict=True)]
    there = all_of(*(code.valid for code in codes))
    return _guarded(w, f"{meaning.__name__}({', '.join(arguments)})", there, result)


def _part_of(unit: Unit, w: Writer, function: Meaning, codes: Sequence[Code]) -> Code | None:
    """A part of a timestamp in UTC."""
    if codes[0].kind != "i":
        return None
    unit.use(source_of(calendar.civil))
    return _called(unit, w, function, codes)


def _begin(unit: Unit, w: Writer, operation: typed.Operation, codes: Sequence[Code]) -> Code | None:
    """The beginning of a span of fixed length, where no time zone is involved."""
    span = operation.arguments[0]
    length = calendar.LENGTHS.get(str(span.value).lower()) if isinstance(span, typed.Constant) else None
    if length is None or len(codes) > 2 or codes[1].kind != "i":
        return None
    return _called(unit, w, calendar.begin_of_length, [codes[1], Code(str(length), "True", "i")])


TAKEN = {("i", "i"), ("f", "f"), ("b", "b"), ("i", "f")}

# --- numbers


def _kinds(codes: Sequence[Code]) -> str:
    return "".join(code.kind for code in codes)


def _float(code: Code) -> str:
    return code.value if code.kind == "f" else f"float({code.value})"


@cache
def _kernel(name: str) -> str:
    return source_of(getattr(kernels, name))


def _guarded(w: Writer, value: str, there: str, kind: str) -> Code:
    """A value that is computed only where a condition holds; null elsewhere."""
    if there == "True":
        return Code(value, "True", kind)
    ok = w.let("ok", there)
    return Code(f"({value} if {ok} else {NOTHING[kind]})", ok, kind)


def _abs(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    (x,) = codes
    match x.kind:
        case "i":
            return Code(f"wrap(abs({x.value}))", x.valid, "i")
        case "f":
            return Code(f"abs({x.value})", x.valid, "f")
    return None


def _sign(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    x = w.held(codes[0])
    if x.kind not in "if":
        return None
    zero = NOTHING[x.kind]
    known = f"{x.value} == {x.value}" if x.kind == "f" else "True"
    return Code(f"(int({x.value} > {zero}) - int({x.value} < {zero}))", all_of(x.valid, known), "i")


def _round(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    x = codes[0]
    if x.kind == "i" and len(codes) == 1:
        return x
    if not set(_kinds(codes)) <= {"i", "f"} or _kinds(codes[1:]) not in ("", "i"):
        return None
    kernel = "rounded_whole" if x.kind == "i" else "rounded_float"
    unit.use(_kernel(kernel))
    decimals = codes[1].value if len(codes) > 1 else "0"
    return _guarded(w, f"{kernel}({x.value}, {decimals})", all_of(*(c.valid for c in codes)), x.kind)


def _whole(word: str) -> Native:
    """A float rounded to an integer; null where it does not fit in 64 bits."""

    def write(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
        x = codes[0]
        if x.kind != "f":
            return x if x.kind == "i" else None
        found = w.let("x", f"{word}({x.value})")
        fits = f"{found} >= -9223372036854775808.0 and {found} < 9223372036854775808.0"
        return _guarded(w, f"truncated({found})", all_of(x.valid, fits), "i")

    return write


def _of_float(word: str, there: str) -> Native:
    """A function of C; null where a condition on the argument {0} does not hold."""

    def write(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
        if codes[0].kind not in "if":
            return None
        x = w.let("x", _float(codes[0]))
        return _guarded(w, f"{word}({x})", all_of(codes[0].valid, there.format(x)), "f")

    return write


def _power(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    if not set(_kinds(codes)) <= {"i", "f"}:
        return None
    for kernel in ("has_power", "power"):
        unit.use(_kernel(kernel))
    base, exponent = (w.let("x", _float(code)) for code in codes)
    known = all_of(*(code.valid for code in codes), f"has_power({base}, {exponent})")
    return _guarded(w, f"power({base}, {exponent})", known, "f")


def remainder(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    """The function for remainders; also the operator ``%``."""
    return _divided(unit, w, codes, "%", "float_remainder")


def quotient(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    """The operator ``//``."""
    return _divided(unit, w, codes, "//", "float_quotient")


def _divided(unit: Unit, w: Writer, codes: list[Code], sign: str, kernel: str) -> Code | None:
    if not set(_kinds(codes)) <= {"i", "f"}:
        return None
    left, right = codes
    known = all_of(left.valid, right.valid, f"{right.value} != {NOTHING[right.kind]}")
    if _kinds(codes) == "ii":
        return _guarded(w, f"wrap({left.value} {sign} {right.value})", known, "i")
    unit.use(_kernel(kernel))
    return _guarded(w, f"{kernel}({_float(left)}, {_float(right)})", known, "f")


def _is_nan(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    (x,) = codes
    if x.kind == "i":
        return Code("False", x.valid, "b")
    return Code(f"is_nan({x.value})", x.valid, "b") if x.kind == "f" else None


# --- any value


def _extreme(largest: bool) -> Native:
    """The least or the greatest number: nulls are skipped, and NaN is greater than all."""

    def write(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
        given = [code for code in codes if code.valid != "False"]
        kinds = set(_kinds(given))
        if not given or not (kinds <= {"i", "f"} or kinds == {"b"}):
            return None
        kind = "f" if "f" in kinds else kinds.pop()
        value, there = w.fresh("x"), w.fresh("ok")
        w.line(f"{value} = {_as(given[0], kind)}")
        w.line(f"{there} = {given[0].valid}")
        for code in given[1:]:
            other = w.let("x", _as(code, kind))
            better = _before(value, other, kind) if largest else _before(other, value, kind)
            chosen = all_of(code.valid, any_of(f"not {there}", better))
            with w.when(chosen):
                w.line(f"{value} = {other}")
                w.line(f"{there} = True")
        return Code(value, there, kind)

    return write


def _as(code: Code, kind: str) -> str:
    return _float(code) if kind == "f" else code.value


def _before(one: str, other: str, kind: str) -> str:
    match kind:
        case "f":
            return f"{one} < {other} or ({one} == {one} and {other} != {other})"
        case "b":
            return f"int({one}) < int({other})"
        case _:
            return f"{one} < {other}"


def _nullif(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    x, y = (w.held(code) for code in codes)
    equal = comparison(w, "=", x, y)
    if equal is None:
        return None
    return Code(x.value, all_of(x.valid, f"not ({all_of(y.valid, equal.value)})"), x.kind)


# --- strings


TEXTS = source_of(new_texts) + "\n\n" + source_of(mixed_text)


def _of_texts(word: str, kind: str) -> Native:
    """A function of strings that is a kernel."""

    def write(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
        if set(_kinds(codes)) != {"s"}:
            return None
        unit.use(TEXTS)
        there = all_of(*(code.valid for code in codes))
        return _guarded(w, f"{word}(values, {', '.join(code.value for code in codes)})", there, kind)

    return write


def _concat(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    """Strings one after the other; nulls are skipped."""
    if set(_kinds([code for code in codes if code.valid != "False"])) != {"s"}:
        return None
    unit.use(TEXTS)
    w.line("values.count = 0")
    for code in codes:
        if code.valid != "False":
            with w.when(code.valid):
                w.line(f"append_text(values, {code.value})")
    return Code(w.let("text", "end_text(values)"), "True", "s")


NATIVE_CASES = {"upper": (97, 122, -32), "lower": (65, 90, 32)}
"""The first and the last letter that change, and their shift."""


def cased(unit: Unit, w: Writer, operation: typed.Operation, codes: Sequence[Code]) -> Code | None:
    """A string in upper or lower case, with the results remembered; Python computes those that are not ASCII."""
    (x,) = codes
    if x.kind != "s":
        return None
    unit.use(TEXTS)
    found, there = w.let("text", "0"), w.let("ok", x.valid)
    with w.when(there):
        table, at = unit.by_text(w, operation, Code(x.value, "True", "s"))
        with w.block(f"if {table}.known[{at}] == 0:"):
            change = ", ".join(map(str, NATIVE_CASES[operation.name]))
            w.line(f"{found} = cased_text(values, {x.value}, {change})")
            with w.block(f"if {found} < 0:"):
                w.line(f"ask({table}, {at})")
            with w.block("else:"):
                w.line(f"{table}.result[{at}] = {found}")
                w.line(f"{table}.known[{at}] = 1")
        w.line(f"{found} = {table}.result[{at}]")
    return Code(found, there, "s")


# --- conversions


def _int(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    (x,) = codes
    return Code(x.stored, x.valid, "i") if x.kind == "b" else _whole("trunc")(unit, w, codes)


def _to_float(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    (x,) = codes
    match x.kind:
        case "i" | "b":
            return Code(f"float({x.stored})", x.valid, "f")
        case "f":
            return x
    return None


def _timestamp(unit: Unit, w: Writer, codes: list[Code]) -> Code | None:
    (x,) = codes
    if x.kind in "fb":
        return Code("0", "False", "i")
    return x if x.kind == "i" else None


NATIVE: dict[str, Native] = {
    "abs": _abs,
    "sign": _sign,
    "round": _round,
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "trunc": _whole("trunc"),
    "sqrt": _of_float("sqrt", "not ({0} < 0.0)"),
    "exp": _of_float("exp", "True"),
    "ln": _of_float("log", "({0} > 0.0 or {0} != {0})"),
    "log10": _of_float("log10", "({0} > 0.0 or {0} != {0})"),
    "power": _power,
    "mod": remainder,
    "is_nan": _is_nan,
    "least": _extreme(False),
    "greatest": _extreme(True),
    "nullif": _nullif,
    "concat": _concat,
    "length": _of_texts("text_length", "i"),
    "starts_with": _of_texts("text_starts", "b"),
    "ends_with": _of_texts("text_ends", "b"),
    "contains": _of_texts("text_contains", "b"),
    "int": _int,
    "float": _to_float,
    "timestamp": _timestamp,
}
