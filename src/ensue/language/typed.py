"""The typed program: the result of checking the syntax tree, and the input of every execution.

All names are resolved: a pattern is an atom of an event type, a pairing of two patterns, an alternative; conditions are
expressions with types; lengths of time are integers in the unit of the time column. Nodes are data, without behaviour.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field

from ensue.language import syntax
from ensue.language.own import OwnFunction
from ensue.language.parameters import Parameter
from ensue.language.source import NOWHERE, Span
from ensue.language.types import Type
from ensue.language.windows import WINDOWS, WindowKind
from ensue.records import dataclass

Value = int | float | str | bool | None | tuple["Value", ...]


# --- expressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant:
    value: Value
    type: Type
    timed: bool = field(default=False, compare=False, repr=False, kw_only=True)
    """True if it was written as a length of time with a unit."""


@dataclass(frozen=True)
class Variable:
    """The value that a variable is bound to."""

    name: str
    type: Type


@dataclass(frozen=True)
class AttributeOf:
    """``o.qty``."""

    label: str
    attribute: str
    type: Type


@dataclass(frozen=True)
class TimeOf:
    """``o.start`` or ``o.end``."""

    label: str
    end: bool
    type: Type = "time"


@dataclass(frozen=True)
class Operation:
    """An operator (``+ - * / // % = != < <= > >= and or not neg``) or a function, on its arguments."""

    name: str
    arguments: tuple[Expression, ...]
    type: Type
    own: OwnFunction | None = field(default=None, kw_only=True)
    """The user's own function, if it was passed to `compile`."""


@dataclass(frozen=True)
class Holds:
    """A static predicate, true where its arguments are among its rows; None stands for any value."""

    predicate: str
    arguments: tuple[Expression | None, ...]
    type: Type = "bool"


@dataclass(frozen=True)
class Aggregate:
    """An aggregate over gathered matches. `path` leads to them: gatherings by id, the outermost first.

    `argument` is None where events are counted.
    """

    name: str
    argument: Expression | None
    path: tuple[int, ...]
    type: Type
    constants: tuple[float, ...] = ()
    """The second argument: the fraction of a quantile."""


Expression = Constant | Variable | AttributeOf | TimeOf | Operation | Holds | Aggregate


# --- relations in time ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Distance:
    """A condition ``low <= later - earlier <= high`` on two end points; None is no limit.

    A point is ``(side, end)``: side 0 is the left operand, 1 the right one.
    """

    earlier: tuple[int, bool]
    later: tuple[int, bool]
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Relation:
    """A temporal relation as its word, and as the conjunction of distances that it means."""

    word: str
    distances: tuple[Distance, ...]


# --- patterns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Context:
    """Parameter context: selects a constituent as an initiator and as a terminator."""

    initiator: str
    terminator: str


@dataclass(frozen=True)
class Atom:
    """An event of a type, whose attributes equal the variables or constants given for them."""

    id: int
    event: str
    fields: tuple[tuple[str, Variable | Constant], ...]
    label: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Moment:
    """``at(…)``: an instant of absolute time."""

    id: int
    time: int
    label: str | None = None


@dataclass(frozen=True)
class Periodic:
    """``every(d)``: each multiple of `period`."""

    id: int
    period: int
    label: str | None = None


@dataclass(frozen=True)
class Pair:
    """Two patterns that both occur, related in time; with contexts, instances are selected and consumed.

    `initiator` is the only side that can be the initiator (0 is the left one, as in ``seq``); None if either can. A
    side whose context is ``cumulative`` is gathered under `left_gathering` or `right_gathering`.
    """

    id: int
    relation: Relation
    left: Pattern
    right: Pattern
    shared: tuple[str, ...]
    left_context: Context | None = None
    right_context: Context | None = None
    initiator: int | None = None
    left_gathering: int | None = None
    right_gathering: int | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Either:
    """One of several patterns."""

    id: int
    alternatives: tuple[Pattern, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Lacking:
    """The positive part of ``p without q``; the body's absence of scope ``Inside(id)`` is the rest."""

    id: int
    pattern: Pattern


@dataclass(frozen=True)
class Run:
    """``p{n}`` that stands alone: each `p` with the ``n - 1`` before it in its group, gathered under `id`."""

    id: int
    pattern: Pattern
    count: int
    keys: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Nested:
    """A body in parentheses: an event with its own covering interval."""

    id: int
    body: Body
    label: str | None = None


Pattern = Atom | Moment | Periodic | Pair | Either | Lacking | Run | Nested


# --- bodies -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timer:
    """A relative timer: its start and its end are points of the event `of`, moved.

    `start_at_end` says that its start refers to the event's end (``following``), `end_at_start` that its end refers to
    the event's start (``preceding``).
    """

    id: int
    of: str
    start_shift: int
    end_shift: int
    label: str | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    start_at_end: bool = False
    end_at_start: bool = False

    @property
    def points(self) -> tuple[tuple[bool, int], tuple[bool, int]]:
        """For its start and its end: the point of the event (True is the end), and how far that is moved."""
        return (self.start_at_end, self.start_shift), (not self.end_at_start, self.end_shift)


@dataclass(frozen=True)
class Lookup:
    """A static predicate among the items: its rows are joined, and bind variables."""

    predicate: str
    arguments: tuple[Variable | Constant | None, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Related:
    """``o before s``, between matched events."""

    left: str
    relation: Relation
    right: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class During:
    """Inside the event or timer with this name: strictly, but for the ends that are included."""

    label: str
    from_start: bool = False
    to_end: bool = False
    bare: Span | None = field(default=None, compare=False, repr=False)
    """Position, if it is written without brackets."""


@dataclass(frozen=True)
class Between:
    """Strictly between the two sides of the pair with this id."""

    pair: int


@dataclass(frozen=True)
class Inside:
    """Inside the pattern with this id, its ends included."""

    pattern: int


Scope = During | Between | Inside


def includes_start(scope: Scope) -> bool:
    """True if a match that starts with a scope lies in it."""
    return scope.from_start if isinstance(scope, During) else isinstance(scope, Inside)


def includes_end(scope: Scope) -> bool:
    """True if a match that ends with a scope lies in it: then a step must be complete before matches are decided."""
    return scope.to_end if isinstance(scope, During) else isinstance(scope, Inside)


@dataclass(frozen=True)
class Absence:
    """Nothing in the scope matches the pattern with the shared variables' values."""

    scope: Scope
    pattern: Pattern
    shared: tuple[str, ...]
    self_contained: bool
    """True if the pattern's own conditions use no names from outside it."""
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Gathering:
    """All that matches in the scope with the shared variables' values: between `low` and `high` of them."""

    id: int
    scope: Scope
    pattern: Pattern
    shared: tuple[str, ...]
    self_contained: bool
    low: int
    high: int | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Window:
    """``while last 1000``, ``last 3m``, ``each 5m`` or ``since q``, collecting a pattern under `id`.

    `kind` is a name in `ensue.language.windows`; `size` the number or the length. A group is the value of `shared`
    (with the rest of the body or with `beginning`) and of the head's other terms.
    """

    id: int
    kind: str
    size: int
    pattern: Pattern
    shared: tuple[str, ...]
    keys: tuple[str, ...]
    beginning: Pattern | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def record(self) -> WindowKind:
        """Record of its kind of window."""
        return WINDOWS[self.kind]

    @property
    def extent(self) -> int | None:
        """Largest distance from the end of an event in it to its own end; None if unbounded."""
        extent = self.record.extent
        return None if extent is None else extent(self.size)


@dataclass(frozen=True)
class Body:
    """Body of a rule: all its parts must hold. The language reference gives the order in which they are checked."""

    pattern: Pattern | None
    timers: tuple[Timer, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    related: tuple[Related, ...] = ()
    on: tuple[Expression, ...] = ()
    where: tuple[Expression, ...] = ()
    within: int | None = None
    lasting: int | None = None
    absences: tuple[Absence, ...] = ()
    gatherings: tuple[Gathering, ...] = ()
    window: Window | None = None
    restricted: bool = False
    correlation: tuple[str, ...] = ()
    """Under ``policy restricted``: the variables that occur in more than one atom of the rule."""
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    keep: int | None = None
    """The program's longest lifetime: events that ended longer before a match's end do not count for it."""


# --- programs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventType:
    """An event type: its attributes in order, whether it is declared, derived, instantaneous, and how long it lasts.

    `length` is the smallest and the largest distance from start to end, None for no limit. It is known of types that
    only rules derive.
    """

    name: str
    attributes: Mapping[str, Type]
    declared: bool
    derived: bool
    instant: bool = False
    length: tuple[int, int | None] = (0, None)
    each: bool = False
    """True if each match of its rules is a separate event (``all located(…) <- …``); else equal events are one."""

    @property
    def given(self) -> bool:
        """True if input rows of this type are accepted: it is declared, or no rule derives it."""
        return self.declared or not self.derived


@dataclass(frozen=True)
class Quiet:
    """``once per id in 1h``, ``at most 3 per id in 1h``: how many of the events that a rule derives are kept.

    Of the events that have the same values of some attributes (`keys`), one is kept if less than `most` were that end
    less than `length` before it.
    """

    most: int
    keys: tuple[str, ...]
    length: int


@dataclass(frozen=True)
class About:
    """Metadata of a rule, for people: a title, and values by any keys. It changes nothing that is derived."""

    title: str | None = None
    settings: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class Rule:
    """An event rule. `head` gives an expression for each attribute of the event that it derives."""

    label: str | None
    event: str
    head: tuple[tuple[str, Expression], ...]
    body: Body
    beginning: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    about: About = field(default=About(), compare=False, repr=False)
    quiet: Quiet | None = None


@dataclass(frozen=True)
class Stratum:
    """Rules to be evaluated together, after all they depend on.

    A recursive one is evaluated step by step; in a step its `layers` (indexes of rules) one after the other, each until
    nothing new is derived.
    """

    layers: tuple[tuple[int, ...], ...]
    recursive: bool


@dataclass(frozen=True)
class StaticLiteral:
    """A static predicate in the body of a static rule, or its negation."""

    predicate: str
    arguments: tuple[Variable | Constant | None, ...]
    negated: bool = False


@dataclass(frozen=True)
class StaticRule:
    predicate: str
    head: tuple[Variable | Constant, ...]
    literals: tuple[StaticLiteral, ...]
    conditions: tuple[Expression, ...]
    computed: tuple[tuple[str, Expression], ...] = ()
    """Variables that are computed, in order, from those that literals bind and from each other."""
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def asks(self) -> tuple[Expression, ...]:
        """All its expressions."""
        return (*self.conditions, *(expression for _, expression in self.computed))


def computes_without_bound(rules: Iterable[StaticRule], stratum: Container[str]) -> bool:
    """True if rules of a stratum compute from rows that the stratum itself derives: they may never end."""
    return any(rule.computed and any(literal.predicate in stratum for literal in rule.literals) for rule in rules)


@dataclass(frozen=True)
class Predicate:
    """A table or a derived static predicate, with the facts that the program states."""

    name: str
    columns: Mapping[str, Type]
    facts: tuple[tuple[Value, ...], ...] = ()
    declared: bool = False


@dataclass(frozen=True)
class Occurrence:
    """An event in a test."""

    event: str
    attributes: Mapping[str, Value]
    start: int
    end: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Test:
    """A test of the rules: the events given, and for each type named, the events that must be derived."""

    title: str
    given: tuple[Occurrence, ...]
    until: int | None
    expect: Mapping[str, tuple[Occurrence, ...]]
    timestamps: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    settings: Mapping[str, syntax.Expression] = field(default_factory=dict)
    """Values that it states for parameters, as written."""
    points: Mapping[int, str] = field(default_factory=dict, compare=False, repr=False)
    """The times of the test as they are written."""
    unit: str | None = field(default=None, compare=False, repr=False)
    """The program's unit of integer times."""


@dataclass(frozen=True)
class Reaction:
    """``on event if condition do action(arguments)``."""

    atom: Atom
    condition: Expression | None
    action: str
    arguments: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """A checked rule file."""

    events: Mapping[str, EventType]
    """In the order that breaks ties between events: declared ones, derived ones by first rule, others by name."""
    rules: tuple[Rule, ...]
    strata: tuple[Stratum, ...]
    predicates: Mapping[str, Predicate]
    static_rules: tuple[StaticRule, ...]
    static_strata: tuple[tuple[str, ...], ...]
    tests: tuple[Test, ...]
    reactions: tuple[Reaction, ...]
    unit: str | None
    durations: bool
    """True if lengths of time are written with units, so that integer times need the statement ``unit``."""
    keep: int | None = None
    """The longest lifetime (``keep 7d.``), which each of its bodies has, too."""
    parameters: tuple[Parameter, ...] = ()
    mixed: bool = False
    """True where timestamps, which are microseconds, stand beside times of events or lengths with units, so that
    integer times must be microseconds, too."""

    @property
    def missing(self) -> tuple[Parameter, ...]:
        """The parameters that have no value, without which nothing can be run."""
        return tuple(parameter for parameter in self.parameters if parameter.value is None)
