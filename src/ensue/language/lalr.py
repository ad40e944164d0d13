"""The parser at work: tokens of a text, and an LALR automaton that takes them one by one.

Its tables (`grammar.json`) are made by Lark from `grammar.lark` and kept in the package: making them takes longer than
checking most programs, and a command that only reads them need not import Lark. Trees are those of Lark, too: `?rule`
is its only child, `_rule` its children, words and signs in quotes leave nothing, and `[…]` a None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ensue.records import dataclass

END = "$END"


class Token(str):
    """A word or sign of a text, with its kind and where it stands."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int

    def __new__(cls, type: str, value: str, start_pos: int = 0, end_pos: int = 0) -> Token:
        token = super().__new__(cls, value)
        token.type, token.start_pos, token.end_pos = type, start_pos, end_pos
        return token

    @property
    def value(self) -> str:
        return str(self)

    def as_kind(self, kind: str, value: str | None = None) -> Token:
        """A token of another kind at the same place."""
        return Token(kind, self.value if value is None else value, self.start_pos, self.end_pos)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Token) and self.type != other.type:
            return False
        return str.__eq__(self, other)

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"Token({self.type!r}, {self.value!r})"


class Tree:
    """Tokens and trees that match a rule of the grammar. They lie within `outer`: inlined rules leave no tree."""

    __slots__ = ("children", "end_pos", "name", "outer_end", "outer_start", "start_pos")

    start_pos: int | None
    end_pos: int | None
    outer_start: int | None
    outer_end: int | None

    def __init__(self, name: str, children: list[Any]) -> None:
        self.name = name
        self.children = children
        self.start_pos = self.end_pos = self.outer_start = self.outer_end = None

    def lie_in(self, parts: list[Any]) -> None:
        """Note where the tree stands: from the first to the last of the parts that it was read from."""
        start = next((at for part in parts if (at := _start(part)) is not None), None)
        if start is not None:
            self.outer_start = start
            self.start_pos = start if self.start_pos is None else self.start_pos
        end = next((at for part in reversed(parts) if (at := _end(part)) is not None), None)
        if end is not None:
            self.outer_end = end
            self.end_pos = end if self.end_pos is None else self.end_pos


def _start(part: Token | Tree) -> int | None:
    return part.start_pos if isinstance(part, Token) else part.outer_start


def _end(part: Token | Tree) -> int | None:
    return part.end_pos if isinstance(part, Token) else part.outer_end


class UnexpectedTokenError(Exception):
    """A token that cannot stand there."""


@dataclass(frozen=True)
class Rule:
    """A rule of the grammar, as far as it is needed to reduce by it.

    `kept` are its parts that stay: each with its place, whether its children stand for it, and how many empty optional
    parts come before; `empty` is how many come last.
    """

    origin: str
    size: int
    name: str
    inlined: bool
    kept: tuple[tuple[int, bool, int], ...]
    empty: int
    changes_nothing: bool
    """Says that its only part stands for it, as in most steps from one level of operators to the next."""

    @staticmethod
    def of(origin: str, size: int, name: str, inlined: bool, kept: list[list[int]], empty: int) -> Rule:
        parts = tuple((place, bool(expanded), before) for place, expanded, before in kept)
        changes_nothing = inlined and size == 1 and parts == ((0, False, 0),) and not empty
        return Rule(origin, size, name, inlined, parts, empty, changes_nothing)

    def reduced(self, parts: list[Any]) -> Any:
        children: list[Any] = []
        for place, expanded, empty in self.kept:
            if empty:
                children += [None] * empty
            if not expanded:
                children.append(parts[place])
            elif children:
                children += parts[place].children
            else:  # so that a list of many grows in place
                children = parts[place].children
        if self.empty:
            children += [None] * self.empty
        found = children[0] if self.inlined and len(children) == 1 else Tree(self.name, children)
        if isinstance(found, Tree):
            found.lie_in(parts)
        return found


@dataclass(frozen=True, eq=False)
class Grammar:
    """The tables. An action is the next state, or for a rule -1 minus its number."""

    scanner: re.Pattern[str]
    words: Mapping[str, Mapping[str, str]]
    """The kinds of words that another kind of token includes, by that kind and the word."""
    ignored: frozenset[str]
    terminals: Mapping[str, str]
    rules: tuple[Rule, ...]
    states: tuple[Mapping[str, int], ...]
    start: int
    end: int

    def lex(self, text: str) -> Iterator[Token]:
        """The tokens of a text in which every character is part of one."""
        at = 0
        while at < len(text):
            found = self.scanner.match(text, at)
            if found is None or found.lastgroup is None:
                raise ValueError(f"there is no token at {at}")
            kind, value = found.lastgroup, found[0]
            if kind not in self.ignored:
                yield Token(self.words.get(kind, {}).get(value, kind), value, at, found.end())
            at = found.end()


@cache
def grammar() -> Grammar:
    """The tables of the language."""
    kept = json.loads(Path(__file__).with_name("grammar.json").read_text(encoding="utf-8"))
    rows = kept["rows"]
    return Grammar(
        re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in kept["scanner"])),
        kept["words"],
        frozenset(kept["ignored"]),
        kept["terminals"],
        tuple(Rule.of(*rule) for rule in kept["rules"]),
        tuple(rows[row] for row in kept["states"]),
        kept["start"],
        kept["end"],
    )


class Parser:
    """The automaton in a state."""

    def __init__(self, tables: Grammar) -> None:
        self._tables = tables
        self._states = [tables.start]
        self._values: list[Any] = []

    @property
    def accepted(self) -> Collection[str]:
        """The kinds of tokens that the parser has something to do with; some of them it may refuse later on."""
        return self._tables.states[self._states[-1]]

    def feed(self, token: Token) -> None:
        """Take the next token."""
        tables, states, values = self._tables, self._states, self._values
        while True:
            action = tables.states[states[-1]].get(token.type)
            if action is None:
                raise UnexpectedTokenError(token)
            if action >= 0:
                states.append(action)
                values.append(token)
                return
            self._reduce(tables.rules[-1 - action])

    def feed_end(self) -> Any:
        """The tree of all that was read."""
        tables, states = self._tables, self._states
        while states[-1] != tables.end:
            action = tables.states[states[-1]].get(END)
            if action is None:
                raise UnexpectedTokenError(END)
            self._reduce(tables.rules[-1 - action])
        return self._values[-1]

    def _reduce(self, rule: Rule) -> None:
        states, values = self._states, self._values
        if rule.changes_nothing:
            states.pop()
        else:
            parts: list[Any] = []
            if rule.size:
                parts = values[-rule.size :]
                del states[-rule.size :], values[-rule.size :]
            values.append(rule.reduced(parts))
        states.append(self._tables.states[states[-1]][rule.origin])

    def accepts(self) -> set[str]:
        """The kinds of tokens that may come next."""
        return {kind for kind in self.accepted if kind.isupper() and self._would_take(kind)}

    def _would_take(self, kind: str) -> bool:
        tables, states = self._tables, list(self._states)
        while True:
            action = tables.states[states[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = tables.rules[-1 - action]
            if rule.size:
                del states[-rule.size :]
            states.append(tables.states[states[-1]][rule.origin])
            if kind == END and states[-1] == tables.end:
                return True


def transformed(tree: Tree, builder: object) -> Any:
    """Apply a builder's methods, named as the rules, to a tree: the innermost first, and without recursion."""
    waiting: list[Any] = [tree]
    order: list[Any] = []
    while waiting:
        node = waiting.pop()
        order.append(node)
        if isinstance(node, Tree):
            waiting += node.children
    made: list[Any] = []
    for node in reversed(order):
        if not isinstance(node, Tree):
            made.append(node)
            continue
        size = len(node.children)
        parts = made[len(made) - size :]
        del made[len(made) - size :]
        made.append(getattr(builder, node.name)(node, parts))
    (result,) = made
    return result
