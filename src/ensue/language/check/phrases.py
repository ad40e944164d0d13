"""Words for types and numbers in messages."""

from __future__ import annotations

from ensue.language.types import Type, is_list, item_of


def a(type_: Type) -> str:
    """A type with its article."""
    match type_:
        case "null":
            return "null"
        case "any":
            return "any value"
        case "value":
            return "a single value"
        case "int":
            return f"an {type_}"
        case _ if is_list(type_):
            return f"a list of {item_of(type_)}"
        case _:
            return f"a {type_}"


def converted(wanted: Type) -> str | None:
    """Hint on converting a value to a type."""
    match wanted:
        case "number":
            return "convert it with `int(…)` or `float(…)`"
        case "time":
            return "use `o.start`, `o.end` or a timestamp; convert text or microseconds since 1970 with `timestamp(…)`"
        case "int" | "float" | "string" | "timestamp":
            return f"convert it with `{wanted}(…)`"
        case "bool":
            return "compare it with something, as in `x > 0`"
        case "value":
            return "a list cannot be compared or aggregated"
        case _:
            return None


def written(wanted: Type) -> str | None:
    """Notation of constants of a type, by an example."""
    if is_list(wanted):
        return f"{a(wanted)} is written `[…]`"
    example = {
        "int": "12", "float": "1.5", "string": '"tea"', "bool": "true", "timestamp": '"2026-12-25T12:00:00Z"',
        "time": "12", "null": "null",
    }  # fmt: skip
    return f"{a(wanted)} is written `{example[wanted]}`" if wanted in example else None


def given(count: int) -> str:
    """Phrase a count: `here are 3`."""
    return "here is none" if not count else f"here {'is' if count == 1 else 'are'} {count}"


def counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"
