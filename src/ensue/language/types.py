"""The types of values, as words: the five that a program declares, and those that only arise.

``int float string bool timestamp`` are declared. ``time`` is the type of ``o.start`` and ``o.end``: an integer or a
timestamp, as the events have it. ``list<t>`` comes from the aggregate ``list``, ``null`` from the constant, and ``any``
from an attribute of an event that is not declared.
"""

from __future__ import annotations

DECLARED = ("int", "float", "string", "bool", "timestamp")
NUMBERS = frozenset({"int", "float"})
TIMES = frozenset({"time", "timestamp"})

_CONVERTED = frozenset(
    {("int", "float"), ("time", "int"), ("time", "timestamp"), ("int", "time"), ("timestamp", "time")}
)
"""Pairs of types, of which the first is implicitly converted to the second when it is stored."""

Type = str


def list_of(item: Type) -> Type:
    return f"list<{item}>"


def item_of(type_: Type) -> Type:
    return type_[5:-1]


def is_list(type_: Type) -> bool:
    return type_.startswith("list<")


def common(left: Type, right: Type) -> Type | None:
    """The type that holds values of both, None if there is none.

    >>> common("int", "float"), common("null", "string"), common("int", "string")
    ('float', 'string', None)
    """
    if left == right or right == "null":
        return left
    if left == "null":
        return right
    if "any" in (left, right):
        return "any"
    pair = {left, right}
    if pair == NUMBERS:
        return "float"
    if pair in ({"time", "int"}, {"time", "timestamp"}):
        return "time"
    if is_list(left) and is_list(right):
        inner = common(item_of(left), item_of(right))
        return list_of(inner) if inner else None
    return None


def fits(given: Type, wanted: Type) -> bool:
    """True if a value of one type may be stored where the other is declared.

    >>> fits("int", "float"), fits("float", "int"), fits("time", "int")
    (True, False, True)
    """
    if given in (wanted, "null", "any") or wanted == "any":
        return True
    if is_list(given) and is_list(wanted):
        return fits(item_of(given), item_of(wanted))
    return (given, wanted) in _CONVERTED


def comparable(left: Type, right: Type) -> bool:
    """True if values of the two types can be compared for equality and order."""
    return common(left, right) is not None and not (is_list(left) or is_list(right))
