"""Comparisons of values in generated code."""

from __future__ import annotations

from ensue.engine.generate.writer import Code, Writer, all_of

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def comparison(w: Writer, name: str, left: Code, right: Code) -> Code | None:
    """Source of the comparison of two values; None where Python must compute it."""
    operator = {"=": "=="}.get(name, name)
    valid = all_of(left.valid, right.valid)
    match left.kind + right.kind:
        case "ii" | "ff":
            return Code(f"({left.value} {operator} {right.value})", valid, "b")
        case "bb":
            return Code(f"({left.stored} {operator} {right.stored})", valid, "b")
        case "ss" if name in ("=", "!="):
            return Code(f"({left.value} {operator} {right.value})", valid, "b")
        case "ss":
            return Code(f"(text_order(values, {left.value}, {right.value}) {operator} 0)", valid, "b")
        case "if" | "fi" as kinds:
            whole, fraction = (left, right) if kinds == "if" else (right, left)
            order = w.let("x", f"above({whole.value}, {fraction.value})")
            if kinds == "fi":
                operator = _FLIPPED.get(operator, operator)
            unlike = operator == "!="
            return Code(f"({order} != 0)" if unlike else f"({order} != 2 and {order} {operator} 0)", valid, "b")
        case _:
            return None
