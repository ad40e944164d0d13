"""The functions of expressions: what each takes and gives. What they compute is for each execution to say.

A parameter is a type, or one of two groups: ``number`` (int or float) and ``value`` (anything that can be compared).
A trailing ``...`` repeats the last parameter. A result of ``same`` is the common type of the arguments marked
``number`` or ``value``; ``number`` arguments of type any give any.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.language.types import NUMBERS, Type, common, is_list, list_of


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives, with a sentence for the reference."""

    parameters: tuple[str, ...]
    result: str
    text: str
    optional: int = 0
    """How many of the last parameters may be left out."""

    @property
    def variadic(self) -> bool:
        return self.parameters[-1] == "..."

    def accepts(self, count: int) -> bool:
        if self.variadic:
            return count >= len(self.parameters) - 1
        return len(self.parameters) - self.optional <= count <= len(self.parameters)

    def parameter(self, index: int) -> str:
        fixed = self.parameters[:-1] if self.variadic else self.parameters
        return fixed[min(index, len(fixed) - 1)]

    def arity(self) -> str:
        """How many arguments it takes, in words."""
        if self.variadic:
            return f"{_counted(len(self.parameters) - 1)} or more"
        most = len(self.parameters)
        return _counted(most) if not self.optional else f"{most - self.optional} or {_counted(most)}"

    def shown(self, name: str) -> str:
        """How it is called, with the types of its parameters.

        >>> FUNCTIONS["substring"].shown("substring")
        'substring(string, int[, int])'
        """
        fixed = list(self.parameters[:-1] if self.variadic else self.parameters)
        needed, optional = fixed[: len(fixed) - self.optional], fixed[len(fixed) - self.optional :]
        text = ", ".join(needed) + "".join(f"[, {parameter}]" for parameter in optional)
        return f"{name}({text}{', …' if self.variadic else ''})"


def _counted(count: int) -> str:
    return f"{count} argument{'s' if count != 1 else ''}"


def _f(parameters: str, result: str, text: str, optional: int = 0) -> Signature:
    return Signature(tuple(parameters.split()), result, text, optional)


FUNCTIONS: dict[str, Signature] = {
    # numbers
    "abs": _f("number", "same", "the absolute value"),
    "sign": _f("number", "int", "-1, 0 or 1"),
    "round": _f("number int", "same", "to so many decimals (none if left out), halves away from zero", optional=1),
    "floor": _f("number", "int", "the largest integer not above"),
    "ceil": _f("number", "int", "the smallest integer not below"),
    "trunc": _f("number", "int", "without its decimals"),
    "sqrt": _f("number", "float", "the square root; null below zero"),
    "exp": _f("number", "float", "e to that power"),
    "ln": _f("number", "float", "the natural logarithm; null at or below zero"),
    "log10": _f("number", "float", "the decimal logarithm; null at or below zero"),
    "power": _f("number number", "float", "the first to the power of the second"),
    "mod": _f("number number", "same", "the remainder, as `%`: it has the sign of the divisor"),
    "is_nan": _f("number", "bool", "whether it is not a number"),
    # any value
    "least": _f("value value ...", "same", "the smallest of the arguments, nulls passed over"),
    "greatest": _f("value value ...", "same", "the largest of the arguments, nulls passed over"),
    "coalesce": _f("value value ...", "same", "the first argument that is not null"),
    "nullif": _f("value value", "same", "null if both are equal, else the first"),
    "is_null": _f("value", "bool", "whether it is null"),
    "is_not_null": _f("value", "bool", "whether it is not null"),
    "if_else": _f("bool value value", "same", "the second argument where the first is true, else the third"),
    # strings
    "lower": _f("string", "string", "in lower case"),
    "upper": _f("string", "string", "in upper case"),
    "length": _f("string", "int", "how many characters"),
    "trim": _f("string", "string", "without spaces at both ends"),
    "ltrim": _f("string", "string", "without spaces at the beginning"),
    "rtrim": _f("string", "string", "without spaces at the end"),
    "left": _f("string int", "string", "the first so many characters"),
    "right": _f("string int", "string", "the last so many characters"),
    "substring": _f("string int int", "string", "from a position (the first is 1), so many characters or the rest", 1),
    "replace": _f("string string string", "string", "with each occurrence of the second replaced by the third"),
    "concat": _f("value ...", "string", "the arguments one after the other as text, nulls passed over"),
    "starts_with": _f("string string", "bool", "whether it begins with the second"),
    "ends_with": _f("string string", "bool", "whether it ends with the second"),
    "contains": _f("string string", "bool", "whether the second occurs in it"),
    "matches": _f("string string", "bool", "whether the regular expression is found in it"),
    # conversions
    "int": _f("value", "int", "as an integer: decimals cut off, text read; null if it is none"),
    "float": _f("value", "float", "as a floating point number; null if it is none"),
    "string": _f("value", "string", "as text"),
    "timestamp": _f("value", "timestamp", "as a timestamp: ISO 8601 text, or microseconds since 1970; else null"),
}

AGGREGATES: dict[str, str] = {
    "count": "how many events (of a name) or values that are not null (of anything else)",
    "sum": "the sum",
    "avg": "the mean",
    "min": "the smallest",
    "max": "the largest",
    "stddev": "the standard deviation of the sample, null for one value",
    "first": "the value of the first event",
    "last": "the value of the last event",
    "list": "all values, in order",
}

TIMERS: dict[str, str] = {
    "extend": "from the event's start to so long after its end",
    "extend_backward": "from so long before the event's start to its end",
    "shift": "the event's interval, moved",
    "at": "that instant",
    "every": "each multiple of that length",
}


def aggregate_type(name: str, argument: Type) -> Type | None:
    """The type that an aggregate gives for values of a type, None if it takes none such."""
    match name:
        case "count":
            return "int"
        case "sum":
            return argument if argument in NUMBERS or argument in ("any", "null") else None
        case "avg" | "stddev":
            return "float" if argument in NUMBERS or argument in ("any", "null") else None
        case "list":
            return None if is_list(argument) else list_of(argument)
        case _:
            return None if is_list(argument) else argument


def result_type(signature: Signature, arguments: list[Type]) -> Type | None:
    """The type that a function gives, None if its arguments have no type in common."""
    if signature.result != "same":
        return signature.result
    result: Type | None = "null"
    for index, argument in enumerate(arguments):
        if signature.parameter(index) in ("number", "value"):
            result = common(result, argument) if result else None
    return result
