"""Names for values: an item ``k = expression`` where nothing else binds `k`.

Such a name stands for its expression. Before a rule is checked each use of it is replaced by that, so that later
stages know nothing of such names, and a condition is decided as soon as its variables are bound:

    hot(m, excess) <- reading(m, t), limit(m, l), excess = t - l, excess > 5.
    hot(m, t - l)  <- reading(m, t), limit(m, l), t - l > 5.

So a name is visible wherever the variables of its expression are: also outside parentheses, in aggregates where it
uses collected values, and not outside ``not`` or a side of an ``or``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field, fields, replace
from typing import Any

from ensue.language import syntax
from ensue.language.diagnostics import Report
from ensue.language.source import Span
from ensue.records import dataclass

MOST_NODES = 2_000
"""Largest number of nodes of an expression after names are replaced by their values."""

Values = dict[str, syntax.Expression]

_NAMES: dict[type[syntax.Node], frozenset[str]] = {
    syntax.Call: frozenset({"name"}), syntax.Argument: frozenset({"name"}), syntax.Labelled: frozenset({"name"}),
    syntax.Attribute: frozenset({"owner", "name"}), syntax.Absence: frozenset({"window"}),
    syntax.Collection: frozenset({"window"}), syntax.Policy: frozenset({"name"}),
}  # fmt: skip
"""The fields that hold names of something else than values."""


@dataclass(frozen=True)
class Filled:
    """A body whose names for values have been filled in, and these."""

    body: syntax.Body
    values: Values = field(default_factory=dict)
    unused: tuple[tuple[str, syntax.Expression], ...] = ()
    """Unused names and their values; they are checked all the same."""

    def term(self, node: syntax.Expression) -> syntax.Expression:
        """A term of the head with its names filled in."""
        found: syntax.Expression = _filled(node, self.values)
        return found


def fill_in(rule: syntax.EventRule, taken: Collection[str], report: Report) -> Filled:
    """The body of a rule without names for values; `taken` are names that something else binds."""
    places: dict[str, Span] = {}
    written: Values = {}
    body = _without(rule.body, taken, places, written, report)
    if not written:
        return Filled(rule.body)
    values = _resolved(written, places, report)
    used = names_in(body) | {name for argument in rule.head.arguments for name in names_in(argument.value)}
    used |= {name for value in written.values() for name in names_in(value)}
    unused = tuple((name, value) for name, value in values.items() if name not in used)
    return Filled(_filled(body, values), values, unused)


# --- which names there are


def _without(node: Any, taken: Collection[str], places: dict[str, Span], written: Values, report: Report) -> Any:
    """A node without the items that name values; these are added to `written`."""
    if isinstance(node, tuple):
        return _same_or(node, tuple(_without(each, taken, places, written, report) for each in node))
    if not isinstance(node, syntax.Node):
        return node
    if isinstance(node, syntax.Body):
        named = [(item, *found) for item in node.items if (found := _named(item, taken)) is not None]
        if named and len(named) < len(node.items):  # a body of conditions alone is reported elsewhere
            for _, name, value in named:
                if name.text in places:
                    report.error(
                        "E106", name.span, f"`{name.text}` is the name of another value already",
                        "choose another name; values are compared after `where`",
                    )  # fmt: skip
                else:
                    places[name.text], written[name.text] = name.span, value
            gone = [item for item, _, _ in named]
            node = replace(node, items=tuple(item for item in node.items if not any(item is each for each in gone)))
    parts = {part.name: getattr(node, part.name) for part in fields(node) if part.name != "span"}
    changed = {
        name: new for name, part in parts.items() if (new := _without(part, taken, places, written, report)) is not part
    }
    return replace(node, **changed) if changed else node


def _named(item: syntax.Node, taken: Collection[str]) -> tuple[syntax.Name, syntax.Expression] | None:
    """The name that an item gives a value to, and that."""
    if isinstance(item, syntax.Comparison) and item.operator == "=":
        for side, value in ((item.left, item.right), (item.right, item.left)):
            if isinstance(side, syntax.Name) and side.text != "_" and side.text not in taken:
                return side, value
    return None


# --- their values


def _resolved(written: Values, places: dict[str, Span], report: Report) -> Values:
    """Values with the names in them filled in, in whatever order they are written."""
    values: Values = {}
    waiting = dict(written)
    while waiting:
        ready = [name for name, value in waiting.items() if not names_in(value) & set(waiting)]
        if not ready:
            circle = _circle(waiting)
            needs = " needs ".join(f"`{name}`" for name in (*circle, circle[0]))
            report.error(
                "E105", places[circle[0]], f"the value of `{circle[0]}` depends on itself: {needs}",
                "give one of them a value that needs none of the others, or bind it in an event",
            )  # fmt: skip
            return values | {name: syntax.Literal(None) for name in waiting}
        for name in ready:
            values[name] = _filled(waiting.pop(name), values)
            if sum(1 for _ in _nodes(values[name])) > MOST_NODES:
                report.error(
                    "E004", places[name], f"the value of `{name}` is too large once the names in it are filled in",
                    "move a part of it to a separate rule, and use its head here",
                )  # fmt: skip
                values[name] = syntax.Literal(None)
    return values


def _circle(values: Values) -> list[str]:
    """Names each of which needs the next one, and the last the first."""
    path = [next(iter(values))]
    while True:
        following = min(names_in(values[path[-1]]) & set(values))
        if following in path:
            return path[path.index(following) :]
        path.append(following)


# --- nodes


def _filled(node: Any, values: Values) -> Any:
    """A node with expressions in the place of names."""
    if isinstance(node, syntax.Name):
        return values.get(node.text, node)
    if isinstance(node, tuple):
        return _same_or(node, tuple(_filled(each, values) for each in node))
    if not isinstance(node, syntax.Node):
        return node
    parts = {name: getattr(node, name) for name in _value_fields(node)}
    changed = {name: new for name, part in parts.items() if (new := _filled(part, values)) is not part}
    return replace(node, **changed) if changed else node


def _same_or(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    """The old tuple where nothing in it has changed."""
    return old if all(one is other for one, other in zip(old, new, strict=True)) else new


def _value_fields(node: syntax.Node) -> Iterator[str]:
    """The fields of a node that hold values, or nodes with values in them."""
    others = _NAMES.get(type(node), frozenset())
    return (part.name for part in fields(node) if part.name != "span" and part.name not in others)


def names_in(node: syntax.Node) -> set[str]:
    """The names that stand for values in a node."""
    found: set[str] = set()
    waiting: list[Any] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, syntax.Name):
            found.add(current.text)
        elif isinstance(current, tuple):
            waiting.extend(current)
        elif isinstance(current, syntax.Node):
            waiting.extend(getattr(current, name) for name in _value_fields(current))
    return found


def _nodes(node: syntax.Node) -> Iterator[syntax.Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(current.children())
