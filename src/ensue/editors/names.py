"""The names of a text and their kinds, found from its tokens, so that a text with mistakes has them, too.

A statement is looked at alone, with the declarations of all others. The result is for colours, completion and places;
only the checker decides the meaning of a program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from ensue.editors.kinds import Kind
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import token_span
from ensue.language.functions import FUNCTIONS, TIMERS
from ensue.language.lalr import Token
from ensue.language.source import Span
from ensue.records import dataclass

NAMES = frozenset({"NAME", "QUOTED"})
CALLEES = NAMES | {"LAST", "RELATION"}
_OPENING, _CLOSING = frozenset({"LPAR", "LSQB", "LBRACE"}), frozenset({"RPAR", "RSQB", "RBRACE"})
_BEFORE_TERMS, _AFTER_TERMS = ("LPAR", "COMMA"), ("EQUAL", "COMMA", "RPAR")
ARROWS = frozenset({"_ARROW", "_IMPLIED"})
DECLARING = {"EVENT": Kind.EVENT, "TABLE": Kind.TABLE, "_PARAM": Kind.PARAMETER}
"""The words that declare a name."""
_AMOUNTS = frozenset({"WITHIN", "LASTING", "KEEP", "IN", "LAST", "EACH", "GAP", "_MOST", "MINUS", "__ANON_0"})
"""Tokens behind which a name is that of a length of time."""
_PATTERN_SIGNS = frozenset({"RELATION", "WITHOUT", "_ARROW", "CONTEXT", "PLUS_AFTER", "STAR_AFTER"})
"""Tokens beside which a bare name is that of an event, if it is none of a value."""

Tokens = Sequence[Token]


@dataclass(frozen=True)
class Named:
    """A name where it stands: its kind, its text without backticks, and the event or label that it belongs to."""

    kind: Kind
    text: str
    span: Span
    owner: str | None = None
    declares: bool = False
    """True where the name is given: in a declaration, a head, in front of a colon."""


@dataclass(frozen=True)
class Declared:
    """An event, a table or a parameter: its attributes with their types (None if not known), and where it is named."""

    kind: Kind
    name: str
    span: Span
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    places: Mapping[str, Span] = field(default_factory=dict)
    """Position of each attribute's name."""


@dataclass(frozen=True)
class Names:
    """The declarations of a text, by name; functions are the user's own."""

    events: Mapping[str, Declared]
    tables: Mapping[str, Declared]
    parameters: Mapping[str, Declared]
    functions: frozenset[str] = frozenset()

    def of_call(self, name: str, quoted: bool = False) -> Kind:
        """The kind of a name that arguments follow."""
        if name in self.events:
            return Kind.EVENT
        if name in self.tables:
            return Kind.TABLE
        if not quoted:
            for known, kind in ((AGGREGATES, Kind.AGGREGATE), (TIMERS, Kind.TIMER), (FUNCTIONS, Kind.FUNCTION)):
                if name in known:
                    return kind
            if name in self.functions:
                return Kind.FUNCTION
        return Kind.EVENT


def plain(token: Token) -> str:
    """A name without its backticks."""
    return str(token.value).strip("`")


# --- declarations -----------------------------------------------------------------------------------------------------


def declared(statements: Sequence[Tokens], functions: frozenset[str] = frozenset()) -> Names:
    """The names that statements declare; the first of several statements for one name counts, declarations first."""
    found = [each for statement in statements for each in _declared_by(statement)]
    by_kind: dict[Kind, dict[str, Declared]] = {Kind.EVENT: {}, Kind.TABLE: {}, Kind.PARAMETER: {}}
    for each in (*(d for d, explicit in found if explicit), *(d for d, explicit in found if not explicit)):
        by_kind[each.kind].setdefault(each.name, each)
    return Names(by_kind[Kind.EVENT], by_kind[Kind.TABLE], by_kind[Kind.PARAMETER], functions)


def _declared_by(tokens: Tokens) -> Iterator[tuple[Declared, bool]]:
    """The declarations of a statement, with True for explicit ones; a head declares its event implicitly."""
    if not tokens:
        return
    kind = DECLARING.get(tokens[0].type)
    if kind is not None:
        if len(tokens) > 1 and tokens[1].type in NAMES:
            columns = _columns(tokens)
            types = {plain(name): None if type_ is None else plain(type_) for name, type_ in columns}
            places = {plain(name): token_span(name) for name, _ in reversed(columns)}
            if kind is Kind.PARAMETER:  # its one attribute is itself
                types = {"": str(tokens[3].value)} if len(tokens) > 3 and tokens[2].type == "COLON" else {}
            yield Declared(kind, plain(tokens[1]), token_span(tokens[1]), types, places), True
        return
    place = head_at(tokens)
    if place is None:
        return
    static = any(token.type == "_IMPLIED" for token in tokens) or not any(t.type == "_ARROW" for t in tokens)
    terms = list(_head_terms(tokens, place))
    names = {plain(name): None for name in terms}
    places = {plain(name): token_span(name) for name in reversed(terms)}
    kind = Kind.TABLE if static else Kind.EVENT
    yield Declared(kind, plain(tokens[place]), token_span(tokens[place]), names, places), False


def _columns(tokens: Tokens) -> list[tuple[Token, Token | None]]:
    """The columns of a declaration with their types, as far as they are written."""
    found: list[tuple[Token, Token | None]] = []
    for at in range(2, len(tokens)):
        if tokens[at].type in ("NAME", "QUOTED", "ATTRIBUTE") and tokens[at - 1].type in ("LPAR", "COMMA"):
            typed = at + 2 < len(tokens) and tokens[at + 1].type == "COLON" and tokens[at + 2].type in NAMES
            found.append((tokens[at], tokens[at + 2] if typed else None))
    return found


def head_at(tokens: Tokens) -> int | None:
    """The index of the name in the head of a rule or in a fact; None for other statements."""
    begin = 0
    if tokens[0].type == "RULE":
        ends = (at for at in range(1, len(tokens)) if tokens[at].type == "COLON")
        begin = next(ends, len(tokens) - 1) + 1
    if begin < len(tokens) and tokens[begin].type == "ALL":
        begin += 1
    if begin >= len(tokens) or tokens[begin].type not in NAMES:
        return None
    if any(token.type in ARROWS for token in tokens):
        return begin
    is_fact = begin == 0 and len(tokens) > 2 and tokens[1].type == "LPAR" and tokens[-1].type == "DOT"
    return begin if is_fact else None


def _head_terms(tokens: Tokens, place: int) -> Iterator[Token]:
    """The names of the terms of a head: variables, and names of expressions."""
    depth = 0
    for at in range(place + 1, len(tokens)):
        token, after = tokens[at], tokens[at + 1].type if at + 1 < len(tokens) else ""
        if token.type in _OPENING:
            depth += 1
        elif token.type in _CLOSING:
            depth -= 1
        elif depth == 1 and token.type in NAMES and tokens[at - 1].type in _BEFORE_TERMS and after in _AFTER_TERMS:
            yield token
        if depth <= 0:
            return


# --- names in a statement ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calling:
    """The call that a token is an argument of: its name, the kind of that, and the place of the argument."""

    name: str
    kind: Kind
    argument: int = 0


class Statement:
    """A statement with its names looked up."""

    def __init__(self, tokens: Tokens, names: Names) -> None:
        self.tokens = tokens
        self.names = names
        self.head = head_at(tokens) if tokens else None
        arrows = (at for at, token in enumerate(tokens) if token.type in ARROWS)
        self.body = next(arrows, len(tokens))
        """The place of the arrow."""
        self.first = tokens[0].type if tokens else ""
        self.labels = dict(self._labels())
        """The meaning of labels: the name of an event or timer, or None."""
        self.variables: dict[str, tuple[str, str] | None] = {}
        """Variables in the order in which they are bound: the event and attribute that bind each, where known."""
        calls = list(self._calls())
        for at, calling in enumerate(calls):
            self._bind(at, calling)
        self.callings = calls
        """The innermost call around each token."""

    def _labels(self) -> Iterator[tuple[str, str | None]]:
        if self.first in DECLARING:
            return
        for at, token in enumerate(self.tokens[:-1]):
            colon = self.tokens[at + 1].type == "COLON" and token.type in NAMES
            named = at + 2 < len(self.tokens) and self.tokens[at + 2].type in CALLEES
            before = self.tokens[at - 1].type if at else ""
            if colon and before not in ("WHILE", "RULE") and at > self.body:
                yield plain(token), plain(self.tokens[at + 2]) if named else None

    def _calls(self) -> Iterator[Calling | None]:
        """The innermost call around each token."""
        around: list[Calling | None] = []
        for at, token in enumerate(self.tokens):
            if token.type in _CLOSING and around:
                around.pop()
            yield next((each for each in reversed(around) if each is not None), None) if around else None
            if token.type in _OPENING:
                before = self.tokens[at - 1] if at else None
                called = token.type == "LPAR" and before is not None and before.type in CALLEES
                around.append(self._calling(at - 1) if called else None)
            elif token.type == "COMMA" and around and around[-1] is not None:
                last = around[-1]
                around[-1] = Calling(last.name, last.kind, last.argument + 1)

    def _calling(self, at: int) -> Calling:
        name = plain(self.tokens[at])
        return Calling(name, self.kind_of_call(at))

    def kind_of_call(self, at: int) -> Kind:
        """The kind of the name of a call at a place of the statement."""
        if self.first in DECLARING and at == 1:
            return DECLARING[self.first]
        if at == self.head:
            return (
                Kind.EVENT if self.body < len(self.tokens) and self.tokens[self.body].type == "_ARROW" else Kind.TABLE
            )
        if self.first == "ON" and any(token.type == "DO" for token in self.tokens[:at][-1:]):
            return Kind.ACTION
        if self.first in ("TEST", "ON") and at and self.tokens[at - 1].type in ("GIVEN", "EXPECT", "ON"):
            return Kind.EVENT
        return self.names.of_call(plain(self.tokens[at]), self.tokens[at].type == "QUOTED")

    def _bind(self, at: int, calling: Calling | None) -> None:
        """Notes a variable that an argument of an event or table in a body binds, or that is a name for a value."""
        token = self.tokens[at]
        if token.type not in NAMES or at < self.body or token.value == "_" or plain(token) in self.labels:
            return
        before, after = self.tokens[at - 1].type, self.tokens[at + 1].type if at + 1 < len(self.tokens) else ""
        name = plain(token)
        if name in self.names.parameters:
            return
        if calling is not None and calling.kind in (Kind.EVENT, Kind.TABLE):
            attributes = self._attributes(calling)
            if before == "EQUAL" and self.tokens[at - 2].type in (*NAMES, "ATTRIBUTE"):
                self._note(name, (calling.name, plain(self.tokens[at - 2])))
            elif before in ("LPAR", "COMMA") and after in ("COMMA", "RPAR", ""):
                known = list(attributes)[calling.argument : calling.argument + 1]
                self._note(name, (calling.name, known[0]) if known else None)
        elif calling is None and before in ("COMMA", *ARROWS) and after == "EQUAL":
            self._note(name, None)

    def _note(self, name: str, bound_by: tuple[str, str] | None) -> None:
        if self.variables.get(name) is None:
            self.variables[name] = bound_by

    def _attributes(self, calling: Calling) -> Mapping[str, str | None]:
        known = self.names.events if calling.kind is Kind.EVENT else self.names.tables
        return known[calling.name].attributes if calling.name in known else {}

    def named(self) -> Iterator[Named]:
        """All names of the statement in order. One with a path, `o.qty`, is two."""
        for at, token in enumerate(self.tokens):
            span = token_span(token)
            if token.type in NAMES:
                kind, owner, declares = self._kind(at)
                yield Named(kind, plain(token), span, owner, declares)
            elif token.type in CALLEES and at + 1 < len(self.tokens) and self.tokens[at + 1].type == "LPAR":
                kind = self.kind_of_call(at)
                if kind in (Kind.AGGREGATE, Kind.FUNCTION, Kind.TIMER):
                    yield Named(kind, plain(token), span)
            elif token.type == "ATTRIBUTE":
                yield from self._path(at)

    def _path(self, at: int) -> Iterator[Named]:
        token, calling = self.tokens[at], self.callings[at]
        span, text = token_span(token), str(token.value)
        after = self.tokens[at + 1].type if at + 1 < len(self.tokens) else ""
        if self.first in DECLARING or (after == "EQUAL" and calling is not None and calling.kind is Kind.EVENT):
            yield Named(Kind.ATTRIBUTE, text, span, calling.name if calling else None, self.first in DECLARING)
            return
        owner, _, rest = text.partition(".")
        if text.startswith("`"):
            end = text.index("`", 1) + 1
            owner, rest = text[:end], text[end + 1 :]
        yield Named(Kind.LABEL, owner.strip("`"), Span(span.start, span.start + len(owner)))
        yield Named(Kind.ATTRIBUTE, rest.strip("`"), Span(span.end - len(rest), span.end), owner.strip("`"))

    def _kind(self, at: int) -> tuple[Kind, str | None, bool]:
        """The meaning of a name, the event it is an attribute of, and whether it is given here."""
        tokens, name = self.tokens, plain(self.tokens[at])
        before = tokens[at - 1].type if at else ""
        after = tokens[at + 1].type if at + 1 < len(tokens) else ""
        calling = self.callings[at]
        if self.first in DECLARING:
            if at == 1:
                return DECLARING[self.first], None, True
            if before == "COLON":
                return Kind.TYPE, None, False
            owner = plain(tokens[1])
            return (Kind.VARIABLE, None, False) if self.first == "_PARAM" else (Kind.ATTRIBUTE, owner, True)
        if before == "UNIT" and at == 1:
            return Kind.UNIT, None, False
        if before == "POLICY":
            return Kind.POLICY, None, False
        if before == "RULE" and at == 1:
            return Kind.RULE, None, True
        if at == self.head:
            return self._kind_of_head(), None, True
        if after == "LPAR":
            return self.kind_of_call(at), None, False
        if calling is None and after == "EQUAL" and at < self.body:  # settings of a rule or of a test
            return (Kind.PARAMETER if self.first == "TEST" else Kind.ATTRIBUTE), None, False
        if calling is None and (before == "NO" or (self.first == "ON" and at == 1)):
            return Kind.EVENT, None, False
        if after == "COLON" and at > self.body:
            return Kind.LABEL, None, before != "WHILE"
        if calling is not None and after == "EQUAL" and calling.kind in (Kind.EVENT, Kind.TABLE):
            return Kind.ATTRIBUTE, calling.name, at < self.body and self.head is not None
        if name in self.labels:
            return Kind.LABEL, None, False
        if name in self.names.parameters or (before in _AMOUNTS and calling is None):
            return Kind.PARAMETER, None, False
        bare = calling is None and name not in self.variables
        if bare and (name in self.names.events or before in _PATTERN_SIGNS or after in _PATTERN_SIGNS):
            return Kind.EVENT, None, False
        return Kind.VARIABLE, None, False

    def _kind_of_head(self) -> Kind:
        derives = self.body < len(self.tokens) and self.tokens[self.body].type == "_ARROW"
        return Kind.EVENT if derives else Kind.TABLE
