"""The syntax tree of a rule file, as it is written: every node knows its span, none knows its meaning.

An atom, a function call and a static predicate look alike (``name(…)``), and so do a conjunction of patterns and one
of conditions; which is which is decided when the names are looked up (`ensue.language.check`). Two trees are equal if
they have the same content, wherever they stand: spans do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields

from ensue.language.source import NOWHERE, Source, Span
from ensue.records import dataclass


@dataclass(frozen=True)
class Node:
    """Anything that was written in a rule file."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True, repr=False)

    def children(self) -> Iterator[Node]:
        """The nodes directly inside this one, as written."""
        for name in _parts(self):
            yield from _nodes(getattr(self, name))


_PARTS: dict[type, tuple[str, ...]] = {}


def _parts(node: Node) -> tuple[str, ...]:
    """The fields that can hold nodes, looked up once for each kind of node."""
    kind = type(node)
    if kind not in _PARTS:
        _PARTS[kind] = tuple(part.name for part in fields(node) if part.name != "span")
    return _PARTS[kind]


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


# --- names and amounts ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name(Node):
    """A name: of an event, a variable, a matched event, an attribute; ``_`` is any value.

    In backticks (`quoted`) it is never the name of a timer or function, where an event can stand.
    """

    text: str
    quoted: bool = field(default=False, compare=False, kw_only=True, repr=False)


@dataclass(frozen=True)
class Amount(Node):
    """A length of time or a point in it: a plain number of the time column's units, or microseconds if `timed`.

    `timed` says that it was written with units (``1h30m``); `written` is that text. An amount of a parameter has its
    name, and 1 or -1 as its value until parameters are replaced by their values.
    """

    value: int
    timed: bool = False
    written: str | None = field(default=None, compare=False)
    parameter: str | None = None
    of: str | None = field(default=None, compare=False)
    """The parameter whose value it is, where it stands in the place of one."""
    duration: bool = field(default=False, compare=False)
    """True if the parameter is declared as a duration: then a plain number, too, is a length of time."""

    @property
    def is_length(self) -> bool:
        """True if it must be a length of time; a plain number may also be a number of events."""
        return self.timed or self.duration


# --- expressions and patterns, which share their operators ------------------------------------------------------------


@dataclass(frozen=True)
class Literal(Node):
    """A constant: a number, a string, true, false or null."""

    value: int | float | str | bool | None
    of: str | None = field(default=None, compare=False)
    """The parameter whose value it is, where it stands in the place of one."""
    timestamp: bool = field(default=False, compare=False)
    """True if the text is a timestamp wherever it stands, as the value of a parameter that is declared as one."""
    missing: bool = field(default=False, compare=False)
    """True if it stands for a parameter that has no value yet."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True)
class ListLiteral(Node):
    """``[1, 2]``: a list, as the aggregate ``list`` gives one; only in tests."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Attribute(Node):
    """``o.qty``, ``o.start``: something of the event matched as ``o``."""

    owner: Name
    name: Name


@dataclass(frozen=True)
class Argument(Node):
    """An argument of a call, ``name = value`` or just a value."""

    value: Expression
    name: Name | None = None


@dataclass(frozen=True)
class Distinct(Node):
    """``distinct x``, the argument of ``count(distinct x)``."""

    operand: Expression


@dataclass(frozen=True)
class Star(Node):
    """The argument of ``count(*)``."""


@dataclass(frozen=True)
class Call(Node):
    """``name(…)``: an event, a static predicate, a timer, a function or an aggregate."""

    name: Name
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Negative(Node):
    """``-x``."""

    operand: Expression


@dataclass(frozen=True)
class Arithmetic(Node):
    """``x + y`` and so on: ``+ - * / // %``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Comparison(Node):
    """``x < y`` and so on: ``= != < <= > >=``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Among(Node):
    """``x in (1, 2)``, ``x not in (1, 2)``."""

    operand: Expression
    values: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True)
class InRange(Node):
    """``x between 1 and 2``, ``x not between 1 and 2``."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True)
class Like(Node):
    """``s like "a%"``, ``s not ilike "a%"``; `word` is ``like`` or ``ilike``."""

    word: str
    operand: Expression
    pattern: Expression
    negated: bool = False


@dataclass(frozen=True)
class IsNull(Node):
    """``x is null``, ``x is not null``."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True)
class Branch(Node):
    """``when x > 1 then 2``."""

    condition: Expression
    value: Expression


@dataclass(frozen=True)
class Case(Node):
    """``case when x > 1 then 2 else 3 end``, or ``case x when 1 then 2 end`` with an operand to compare."""

    operand: Expression | None
    branches: tuple[Branch, ...]
    otherwise: Expression | None = None


@dataclass(frozen=True)
class Not(Node):
    """``not x``, of a condition."""

    operand: Expression


@dataclass(frozen=True)
class And(Node):
    """``x and y``, of patterns or of conditions."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Or(Node):
    """``x or y``, of patterns or of conditions."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Bound(Node):
    """A bound of a temporal relation: ``[d]`` (exact), ``[low..high]``, ``[low..]`` or ``[..high]``."""

    low: Amount | None
    high: Amount | None
    exact: bool = False


@dataclass(frozen=True)
class Temporal(Node):
    """``p seq q``, ``p par q``, ``p before[1h..] q``: patterns, or names of matched events, related in time."""

    relation: str
    bounds: tuple[Bound, ...]
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Without(Node):
    """``p without q``."""

    pattern: Expression
    absent: Expression


@dataclass(frozen=True)
class InContext(Node):
    """``recent p``, ``cumulative/chronicle p``: a constituent with its parameter context."""

    initiator: str
    terminator: str | None
    pattern: Expression


@dataclass(frozen=True)
class Repeat(Node):
    """``p+``, ``p*``, ``p{3}``, ``p{2,5}``; `high` is None where there is no limit."""

    pattern: Expression
    low: int
    high: int | None


@dataclass(frozen=True)
class Labelled(Node):
    """``o: p`` names the match of `p`."""

    name: Name
    pattern: Expression


@dataclass(frozen=True)
class Group(Node):
    """``(…)``: a nested body, or a condition in parentheses."""

    body: Body


Expression = (
    Literal | ListLiteral | Name | Attribute | Distinct | Star | Call | Amount | Negative | Arithmetic | Comparison
    | Among | InRange | Like | IsNull | Case | Not | And | Or | Temporal | Without | InContext | Repeat | Labelled
    | Group
)  # fmt: skip

Condition = Comparison | Among | InRange | Like | IsNull | Not
"""Expressions that are true or false by their form, whatever its names mean."""


# --- bodies -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Absence(Node):
    """``while w: not p``, ``while [w]: not p``; `ends` are the brackets, if there are some."""

    window: Name
    ends: str
    pattern: Expression


@dataclass(frozen=True)
class Collection(Node):
    """``while w: collect p``, ``while [w): collect p``; `ends` are the brackets, if there are some."""

    window: Name
    ends: str
    pattern: Expression


@dataclass(frozen=True)
class Window(Node):
    """``while last 1000: collect p``, ``while each 5m: collect p``, …: see `ensue.language.windows`."""

    word: str
    size: Amount
    pattern: Expression


@dataclass(frozen=True)
class SinceWindow(Node):
    """A window that begins with a pattern: ``while since q: collect p``."""

    beginning: Expression
    pattern: Expression


@dataclass(frozen=True)
class NotIn(Node):
    """``not p in [q, r]``."""

    absent: Expression
    first: Expression
    last: Expression


Item = Expression | Absence | Collection | Window | SinceWindow | NotIn


@dataclass(frozen=True)
class On(Node):
    condition: Expression


@dataclass(frozen=True)
class Where(Node):
    condition: Expression


@dataclass(frozen=True)
class Within(Node):
    length: Amount


@dataclass(frozen=True)
class Lasting(Node):
    length: Amount


@dataclass(frozen=True)
class Policy(Node):
    name: Name


@dataclass(frozen=True)
class Once(Node):
    """``once per id in 1h``: keeps one of a rule's events in a length of time for each value."""

    keys: tuple[Name, ...]
    length: Amount


@dataclass(frozen=True)
class AtMost(Node):
    """``at most 3 per id in 1h``: keeps that many in a length of time for each value."""

    most: Amount
    keys: tuple[Name, ...]
    length: Amount


Suffix = On | Where | Within | Lasting | Policy | Once | AtMost


@dataclass(frozen=True)
class Body(Node):
    """Items between commas, then suffixes: the right side of a rule, or the content of parentheses."""

    items: tuple[Item, ...]
    suffixes: tuple[Suffix, ...] = ()


# --- statements -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unit(Node):
    """``unit s.``"""

    name: Name


@dataclass(frozen=True)
class Keep(Node):
    """``keep 7d.``"""

    length: Amount


@dataclass(frozen=True)
class ParameterDeclaration(Node):
    """``param limit: float = 100.0.``; one without a value must be given one."""

    name: Name
    type: Name
    value: Expression | None = None


@dataclass(frozen=True)
class Setting(Node):
    """``severity = "high"`` in front of a rule, ``limit = 80.0`` in a test."""

    name: Name
    value: Expression


@dataclass(frozen=True)
class About(Node):
    """``"Order not shipped" [severity = "high"]``: description of a rule for people; it changes nothing."""

    title: str | None
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class Column(Node):
    """``id: int`` in a declaration."""

    name: Name
    type: Name


@dataclass(frozen=True)
class EventDeclaration(Node):
    """``event order(id: int).``, ``event tick(price: float) instant.``"""

    name: Name
    columns: tuple[Column, ...]
    instant: bool = False


@dataclass(frozen=True)
class TableDeclaration(Node):
    """``table linked(a: string, b: string).``"""

    name: Name
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Fact(Node):
    """``linked("site3", "site4").``"""

    call: Call


@dataclass(frozen=True)
class EventRule(Node):
    """``head <- body.``, with its optional name (``rule late: …``) and beginning (``head from e <- …``).

    With `each`, written ``all head <- body.``, each match is a separate event.
    """

    head: Call
    body: Body
    label: Name | None = None
    beginning: Name | None = None
    about: About | None = None
    each: bool = False


@dataclass(frozen=True)
class StaticRule(Node):
    """``head :- body.``"""

    head: Call
    body: Body
    label: Name | None = None
    about: About | None = None


@dataclass(frozen=True)
class Point(Node):
    """A time in a test: a number, a duration since zero, or a timestamp as text."""

    value: Amount | Literal


@dataclass(frozen=True)
class Occurrence(Node):
    """``order(42, "muffins", 2) @ 3``, ``comp(42, "muffins") @ [3, 7]``."""

    call: Call
    start: Point
    end: Point


@dataclass(frozen=True)
class Nothing(Node):
    """``no comp`` among the expectations of a test."""

    type: Name


@dataclass(frozen=True)
class Test(Node):
    """``test "title" with … given … until … expect ….``"""

    title: str
    given: tuple[Occurrence, ...]
    until: Point | None
    expect: tuple[Occurrence | Nothing, ...]
    settings: tuple[Setting, ...] = ()
    """Values of parameters."""


@dataclass(frozen=True)
class Reaction(Node):
    """``on overdue(id) if vip(id) do notify(id).``"""

    event: Expression
    condition: Expression | None
    action: Call


Statement = (
    Unit | Keep | ParameterDeclaration | EventDeclaration | TableDeclaration | Fact | EventRule | StaticRule | Test
    | Reaction
)  # fmt: skip


@dataclass(frozen=True)
class File:
    """A rule file: its statements in order, and the text they came from."""

    source: Source
    statements: tuple[Statement, ...]
    lost: frozenset[str] = frozenset()
    """The names that statements with errors would have declared; nothing follows from their absence."""
