"""The operators of a plan, as data: each has its inputs, and the results of temporal reasoning about it.

Every operator gives matches; it gives a match at the time at which that ends. `conditions` are checked as soon as a
match is found.
"""

from __future__ import annotations

from ensue.language import typed
from ensue.plan.outside import Name
from ensue.plan.renaming import Field, Renaming
from ensue.records import dataclass
from ensue.temporal.joins import Side
from ensue.temporal.lifetimes import Lifetime
from ensue.temporal.memory import Memory
from ensue.temporal.openers import Opener

Conditions = tuple[typed.Expression, ...]


@dataclass(frozen=True)
class Scan:
    """Events of a type whose attributes equal the variables and constants of an atom."""

    atom: typed.Atom
    conditions: Conditions = ()


@dataclass(frozen=True)
class Clock:
    """A moment, or each multiple of a length."""

    timer: typed.Moment | typed.Periodic


@dataclass(frozen=True)
class Ending:
    """Forbidden event between the sides of a join; its arrival drops waiting left sides of its key."""

    input: Operator
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Join:
    """All pairs that agree in shared variables and stand in a relation; a side is stored as long as it may match."""

    pair: typed.Pair
    left: Operator
    right: Operator
    sides: tuple[Side, Side]
    endings: tuple[Ending, ...] = ()
    conditions: Conditions = ()


@dataclass(frozen=True)
class Choose:
    """Pairs by initiator and terminator contexts. `body` decides which pairs are eligible."""

    pair: typed.Pair
    left: Operator
    right: Operator
    lifetimes: tuple[Lifetime, Lifetime]
    body: typed.Body


@dataclass(frozen=True)
class Alternatives:
    """Matches of one of several patterns; a match of several of them is given once."""

    pattern: typed.Either
    inputs: tuple[Operator, ...]


@dataclass(frozen=True)
class Spanned:
    """Matches with their intervals, for an absence inside them."""

    id: int
    input: Operator


@dataclass(frozen=True)
class Repeat:
    """Each match with those before it in its group, a fixed number together."""

    run: typed.Run
    input: Operator


@dataclass(frozen=True)
class Named:
    """Matches of a body in parentheses, as one event with a name."""

    nested: typed.Nested
    input: Operator


@dataclass(frozen=True)
class Nothing:
    """One empty match, from which a body without constituents begins."""


@dataclass(frozen=True)
class LookUp:
    """Matches joined with the rows of a static predicate."""

    lookup: typed.Lookup
    input: Operator


@dataclass(frozen=True)
class Wait:
    """Matches with their relative timers, once these have ended: at most `longest` after the match, if known."""

    timers: tuple[typed.Timer, ...]
    input: Operator
    longest: int | None = None


@dataclass(frozen=True)
class Window:
    """Matches with the aggregates of a window; `terms` are the head's terms that make a group.

    `reach` is the largest length of a match: for so long the window's results wait for matches beside it, and these for
    them.
    """

    window: typed.Window
    input: Operator
    collected: Operator
    beginning: Operator | None
    terms: Conditions
    reach: int | None = None
    keep: int | None = None
    """Largest time from the end of a collected event, or of the beginning, to the window's own end."""
    gated: tuple[int, ...] = ()
    """The atoms of a collected composite whose events are useless before there is a beginning of their key."""


@dataclass(frozen=True)
class Restrict:
    """Matches of the right length, whose names are related, for which conditions hold.

    `keep` is the largest time from the end of each part to the end of the match.
    """

    input: Operator
    related: tuple[typed.Related, ...] = ()
    within: int | None = None
    lasting: int | None = None
    conditions: Conditions = ()
    keep: int | None = None


@dataclass(frozen=True)
class Gather:
    """Matches with the events in their scope, if there are enough; these are stored for `reach` (None: for ever)."""

    part: typed.Gathering
    input: Operator
    inner: Operator
    reach: int | None
    conditions: Conditions
    opener: Opener | None = None
    """Events one of which must have come before anything is stored."""
    keep: int | None = None
    """Largest time from the end of a gathered event to the end of the match."""


@dataclass(frozen=True)
class Absent:
    """Matches without a negated event in their scope."""

    part: typed.Absence
    input: Operator
    inner: Operator
    reach: int | None
    conditions: Conditions
    opener: Opener | None = None
    """Events one of which must have come before anything is stored."""
    keep: int | None = None
    """Largest time from the end of a negated event to the end of the match."""
    newest: bool = False
    """True if the newest time of each key decides: instants are negated, in a scope that ends with the match."""


@dataclass(frozen=True)
class Distinct:
    """Matches, each once, where an `or` could give one twice."""

    pattern: typed.Pattern
    input: Operator


@dataclass(frozen=True)
class Latest:
    """Of the matches with one end and correlation, one with the latest start (``policy restricted``)."""

    input: Operator
    variables: tuple[str, ...]


@dataclass(frozen=True)
class RestrictedAnd:
    """Of the pairs with one end and correlation, one with the latest start (``policy restricted``).

    `correlations` are the variables that distinguish the instances of each side; pairs longer than `within` are
    useless.
    """

    pair: typed.Pair
    left: Operator
    right: Operator
    correlations: tuple[tuple[str, ...], tuple[str, ...]]
    within: int | None
    memory: Memory


@dataclass(frozen=True)
class RestrictedSequence:
    """A smallest set of pairs such that each pair has one of them inside it (``policy restricted``).

    `lengths` are the longest lengths of instances of the sides, where they have one.
    """

    pair: typed.Pair
    left: Operator
    right: Operator
    correlations: tuple[tuple[str, ...], tuple[str, ...]]
    within: int | None
    lengths: tuple[int | None, int | None]
    memory: Memory


@dataclass(frozen=True)
class RestrictedWithout:
    """Matches without a negated event inside, ends included (``policy restricted``); `reach` is the largest length."""

    part: typed.Absence
    input: Operator
    inner: Operator
    reach: int | None
    memory: Memory


@dataclass(frozen=True)
class Anew:
    """A pattern that is matched again for each match, from all events so far: it uses `names` of the match.

    With `ahead` its scope is a name further out, so it may lie after the match: then all events of the outer match
    count.
    """

    pattern: typed.Pattern
    input: Operator
    names: tuple[Name, ...]
    ahead: bool = False


@dataclass(frozen=True)
class Seeing:
    """Matches with some names of the outer match for which they are found (`Anew`)."""

    names: tuple[Name, ...]
    input: Operator


@dataclass(frozen=True)
class Keep:
    """Matches that are stored once, by a key, for all joins that look for them."""

    input: Operator
    key: tuple[Field, ...]
    lifetime: Lifetime


@dataclass(frozen=True)
class Shared:
    """A part that is built once for several rules, or several times in one, as one of them sees it.

    `input` is the part with the names of the rule, as loose as all of them need it; `name` identifies the part.
    """

    input: Operator
    name: str
    renaming: Renaming
    key: tuple[str, ...] | None = None
    """The variables by which the part stores its matches, in that order; None where it does not."""
    lifetime: Lifetime | None = None
    """The lifetime of its stored matches."""
    longest: int | None = None
    """Largest length of a match that the rule can use."""


@dataclass(frozen=True)
class Derive:
    """A rule: an event for each match."""

    rule: typed.Rule
    input: Operator


Operator = (
    Scan | Clock | Join | Choose | Alternatives | Spanned | Repeat | Named | Nothing | LookUp | Wait | Window | Restrict
    | Gather | Absent | Distinct | Latest | RestrictedAnd | RestrictedSequence | RestrictedWithout | Anew | Seeing
    | Keep | Shared
)  # fmt: skip


class NotPlannedError(Exception):
    """Raised for a construct that no plan can express yet; names it."""
