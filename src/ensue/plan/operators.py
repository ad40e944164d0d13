"""The operators of a plan, as data: each says what it takes, and what temporal reasoning found about it.

Every operator gives matches; it gives a match at the time at which that ends. `conditions` are checked as soon as a
match is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.language import typed
from ensue.plan.outside import Name
from ensue.plan.renaming import Field, Renaming
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
    """What is forbidden between the sides of a join, and ends what waits on the left, by its key."""

    input: Operator
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Join:
    """All pairs that agree in their shared variables and stand in a relation; a side is stored as long as it may
    match."""

    pair: typed.Pair
    left: Operator
    right: Operator
    sides: tuple[Side, Side]
    endings: tuple[Ending, ...] = ()
    conditions: Conditions = ()


@dataclass(frozen=True)
class Choose:
    """Pairs by initiator and terminator contexts. `body` says which pairs are eligible."""

    pair: typed.Pair
    left: Operator
    right: Operator
    lifetimes: tuple[Lifetime, Lifetime]
    body: typed.Body


@dataclass(frozen=True)
class Alternatives:
    """One of several patterns; what several of them find is found once."""

    pattern: typed.Either
    inputs: tuple[Operator, ...]


@dataclass(frozen=True)
class Spanned:
    """Matches that remember where they lie, for an absence inside them."""

    id: int
    input: Operator


@dataclass(frozen=True)
class Repeat:
    """Each match with those before it in its group, so many together."""

    run: typed.Run
    input: Operator


@dataclass(frozen=True)
class Named:
    """Matches of a body in parentheses, as one event with a name."""

    nested: typed.Nested
    input: Operator


@dataclass(frozen=True)
class Nothing:
    """One match of nothing, from which a body without constituents begins."""


@dataclass(frozen=True)
class LookUp:
    """Matches joined with the rows of a static predicate."""

    lookup: typed.Lookup
    input: Operator


@dataclass(frozen=True)
class Wait:
    """Matches with their relative timers, when these have ended: `longest` after the match, if that is known."""

    timers: tuple[typed.Timer, ...]
    input: Operator
    longest: int | None = None


@dataclass(frozen=True)
class Window:
    """Matches with what a window collects; `terms` are the head's terms that make a group.

    `reach` is how long a match lasts at most: so long what is found is kept for matches of the rest, and these for it.
    """

    window: typed.Window
    input: Operator
    collected: Operator
    beginning: Operator | None
    terms: Conditions
    reach: int | None = None
    keep: int | None = None
    """How long before the window's own end what it collects, or begins with, ended at most."""


@dataclass(frozen=True)
class Restrict:
    """Matches of the right length, whose names are related, for which conditions hold.

    `keep` is how long before a match all that it is made of ends at most.
    """

    input: Operator
    related: tuple[typed.Related, ...] = ()
    within: int | None = None
    lasting: int | None = None
    conditions: Conditions = ()
    keep: int | None = None


@dataclass(frozen=True)
class Gather:
    """Matches with what lies in their scope, if there is enough of it; it is stored for `reach` (None: for ever)."""

    part: typed.Gathering
    input: Operator
    inner: Operator
    reach: int | None
    conditions: Conditions
    opener: Opener | None = None
    """What must have come before anything is stored."""
    keep: int | None = None
    """How long before a match ends something ended at most that counts."""


@dataclass(frozen=True)
class Absent:
    """Matches in whose scope nothing lies."""

    part: typed.Absence
    input: Operator
    inner: Operator
    reach: int | None
    conditions: Conditions
    opener: Opener | None = None
    """What must have come before anything is stored."""
    keep: int | None = None
    """How long before a match ends something ended at most that counts."""


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

    `correlations` are the variables that tell the instances of each side apart; what is longer than `within` is no use.
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
    """Matches inside which nothing negated lies, ends included (``policy restricted``); `reach` is their longest
    length."""

    part: typed.Absence
    input: Operator
    inner: Operator
    reach: int | None
    memory: Memory


@dataclass(frozen=True)
class Anew:
    """A pattern that is matched anew for each match, from all events so far: it uses `names` of the match.

    With `ahead` its scope is a name further out, so that it may lie after the match: all events count that do there.
    """

    pattern: typed.Pattern
    input: Operator
    names: tuple[Name, ...]
    ahead: bool = False


@dataclass(frozen=True)
class Seeing:
    """Matches that know some names of the match for which they are found (`Anew`)."""

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

    `input` is the part in the words of the rule, as loose as all of them need it; `name` says which part it is.
    """

    input: Operator
    name: str
    renaming: Renaming
    key: tuple[str, ...] | None = None
    """Where the part stores its matches, too: the variables by which it does, in that order."""
    lifetime: Lifetime | None = None
    """How long it stores them."""
    longest: int | None = None
    """How long a match lasts at most that the rule can use."""


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
    """Something that no plan can say yet, and what."""
