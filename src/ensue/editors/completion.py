"""Completion at a place: words of the grammar where they fit, names that are known there, functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from ensue.editors.kinds import Kind
from ensue.editors.names import DECLARING, NAMES, Names, Statement
from ensue.editors.places import Range, offset_of, range_of
from ensue.editors.text import Functions, Text, shown, text_of
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import KEYWORDS, MICROSECONDS
from ensue.language.check.patterns import POLICIES
from ensue.language.functions import FUNCTIONS, TIMERS
from ensue.language.parameters import TYPES
from ensue.language.parse import expected, read_tokens, terminals
from ensue.language.print import show
from ensue.language.relations import COMPARISONS
from ensue.language.source import Source, Span
from ensue.language.syntax import Name
from ensue.language.types import DECLARED
from ensue.language.windows import WINDOWS
from ensue.language.words import SOFT, TERMINALS
from ensue.records import dataclass

_WORD = re.compile(r"(`[^`\n]*|\d[\w.]*|[^\W\d]\w*)?\Z")
_OWNER = re.compile(r"([^\W\d]\w*|`[^`\n]+`)\.\Z")
_DURATION = re.compile(r"(\d+(\.\d+)?[a-z]+)*\d+(\.\d+)?\Z")


@dataclass(frozen=True)
class Completion:
    """A proposal for a place, which replaces the text that is there already."""

    text: str
    kind: Kind
    replaces: Range
    detail: str = ""
    """A signature, a type or a declaration, in one line."""
    sentence: str = ""
    """Its description, in words."""


@dataclass(frozen=True)
class _Proposal:
    text: str
    kind: Kind
    detail: str = ""
    sentence: str = ""


def completions(text: str, line: int, column: int, *, functions: Functions = None) -> tuple[Completion, ...]:
    """Complete the text at a place, names of the statement first; proposals begin with the text that is there already.

    >>> rules = "event order(id: int, qty: int).\\nbig(id) <- o: order(id, n) where o.q"
    >>> [(each.text, each.detail) for each in completions(rules, 2, 38)]
    [('qty', 'int')]
    >>> [each.text for each in completions("event order(id: i", 1, 18)]
    ['int']
    """
    source = Source(text)
    offset = offset_of(source, line, column)
    if _is_plain_text(text, offset) or text[:offset].endswith((").", "].", "}.")):
        return ()
    begun = _WORD.search(text, 0, offset)
    start = offset if begun is None else begun.start()
    prefix = text[start:offset]
    replaces = range_of(source, Span(start, offset)) if prefix else Range(line, column, line, column)
    proposals: dict[tuple[str, Kind], Completion] = {}
    for each in _proposed(text_of(text, functions=functions), start, prefix):
        if _begins(each.text, prefix):
            made = Completion(each.text, each.kind, replaces, each.detail, each.sentence)
            proposals.setdefault((each.text, each.kind), made)
    return tuple(proposals.values())


def _begins(text: str, prefix: str) -> bool:
    return text.lower().strip("`").startswith(prefix.lower().strip("`")) and text != prefix


def _is_plain_text(text: str, offset: int) -> bool:
    """True if a character stands in a comment or in a string."""
    begin = text.rfind("\n", 0, offset) + 1
    rest = re.sub(r'"(\\.|[^"\\])*"|`[^`]*`', lambda found: "_" * len(found[0]), text[begin:offset])
    return "#" in rest or '"' in rest


# --- proposals --------------------------------------------------------------------------------------------------------


def _proposed(text: Text, start: int, prefix: str) -> Iterator[_Proposal]:
    before = text.source.text[:start]
    owner = _OWNER.search(before)
    if owner is not None:
        blank = " " * (1 + len(prefix))  # in the place of the period, which would end the statement
        whole = text_of(f"{before[:-1]}{blank}{text.source.text[start + len(prefix) :]}")
        yield from _attributes_of(owner[1].strip("`"), whole.statement_at(owner.start()))
        return
    statement = _begun(text, before)
    accepted = expected(list(statement.tokens))
    if not prefix[:1].isdigit():
        yield from _fitting(statement, accepted, text.statement_at(start) if statement.tokens else None)
    elif _DURATION.fullmatch(prefix) and "DURATION" in (accepted or ()):
        yield from (_Proposal(f"{prefix}{unit}", Kind.DURATION) for unit in MICROSECONDS)


def _begun(text: Text, before: str) -> Statement:
    """The statement that is begun in front of a place."""
    read = read_tokens(Source(before))
    return Statement(read[-1] if read and read[-1][-1].type != "DOT" else [], text.names)


def _fitting(statement: Statement, accepted: set[str] | None, whole: Statement | None) -> Iterator[_Proposal]:
    """Proposals that fit behind the beginning of a statement; `whole` is all of it, which may bind names further on."""
    tokens, names = statement.tokens, statement.names
    before = tokens[-1].type if tokens else ""
    if statement.first in DECLARING:
        types = (TYPES if statement.first == "_PARAM" else DECLARED) if before == "COLON" else ()
        yield from (_Proposal(type_, Kind.TYPE) for type_ in types)
    elif before == "UNIT":
        yield from (_Proposal(unit, Kind.UNIT) for unit in MICROSECONDS)
    elif before == "POLICY":
        yield from (_Proposal(policy, Kind.POLICY) for policy in POLICIES)
    elif before != "RULE" and (accepted is None or accepted & NAMES):
        calling = _calling(statement)
        in_body = statement.body < len(tokens)
        if calling is not None or in_body or statement.first == "ON":
            for each in dict.fromkeys((statement, whole or statement)):
                yield from _in_scope(each, names, calling)
            for name, parameter in names.parameters.items():
                yield _Proposal(_written(name), Kind.PARAMETER, parameter.attributes.get("") or "")
        yield from _called(names, in_body or calling is not None)
    if before == "COLON" and "_COLON_COLLECT" in (expected(list(tokens[:-1])) or ()):
        yield _Proposal("collect", Kind.KEYWORD)
    yield from _words(accepted)


def _written(name: str) -> str:
    """A name as rules write it, in backticks where it needs them."""
    return show(Name(name))


def _calling(statement: Statement) -> tuple[str, Kind] | None:
    """The call whose arguments are being written."""
    depth = 0
    for at in range(len(statement.tokens) - 1, 0, -1):
        kind = statement.tokens[at].type
        depth += {"RPAR": 1, "LPAR": -1}.get(kind, 0)
        if depth < 0:
            called = statement.tokens[at - 1].type in (*NAMES, "LAST", "RELATION")
            return (str(statement.tokens[at - 1].value).strip("`"), statement.kind_of_call(at - 1)) if called else None
    return None


def _attributes_of(label: str, statement: Statement | None) -> Iterator[_Proposal]:
    """The attributes and times of the event that a label names."""
    if statement is None or label not in statement.labels:
        return
    event = statement.labels[label] or ""
    known = statement.names.events.get(event)
    for name, type_ in known.attributes.items() if known is not None else ():
        yield _Proposal(_written(name), Kind.ATTRIBUTE, type_ or "", f"an attribute of {event}")
    yield _Proposal("start", Kind.ATTRIBUTE, "time", "when it began")
    yield _Proposal("end", Kind.ATTRIBUTE, "time", "when it ended")


def _in_scope(statement: Statement, names: Names, calling: tuple[str, Kind] | None) -> Iterator[_Proposal]:
    """Attributes of the event whose arguments are written, then variables and labels."""
    if calling is not None and calling[1] in (Kind.EVENT, Kind.TABLE):
        known = (names.events if calling[1] is Kind.EVENT else names.tables).get(calling[0])
        for name, type_ in known.attributes.items() if known is not None else ():
            yield _Proposal(_written(name), Kind.ATTRIBUTE, type_ or "", f"an attribute of {calling[0]}")
    for name, bound_by in statement.variables.items():
        yield _Proposal(_written(name), Kind.VARIABLE, type_of_attribute(bound_by, names) or "")
    for name, of in statement.labels.items():
        yield _Proposal(_written(name), Kind.LABEL, of or "")


def type_of_attribute(bound_by: tuple[str, str] | None, names: Names) -> str | None:
    """The type of the attribute of an event or table that binds a variable, where it is known."""
    if bound_by is None:
        return None
    known = names.events.get(bound_by[0]) or names.tables.get(bound_by[0])
    return None if known is None else known.attributes.get(bound_by[1])


def _called(names: Names, expressions: bool) -> Iterator[_Proposal]:
    """Events and tables; in bodies and arguments timers, functions and aggregates, too."""
    for name, event in names.events.items():
        yield _Proposal(_written(name), Kind.EVENT, shown(event, "event"))
    for name, table in names.tables.items():
        yield _Proposal(_written(name), Kind.TABLE, shown(table, "table"))
    if expressions:
        for name, sentence in TIMERS.items():
            yield _Proposal(name, Kind.TIMER, f"{name}(…)", sentence)
        for name, aggregate in AGGREGATES.items():
            yield _Proposal(name, Kind.AGGREGATE, f"{name}(…)", aggregate.text)
        for name, signature in FUNCTIONS.items():
            yield _Proposal(name, Kind.FUNCTION, f"{signature.shown(name)}: {signature.result}", signature.text)
        for name in sorted(names.functions):
            yield _Proposal(name, Kind.FUNCTION, f"{name}(…)", "your own function")


@cache
def words_of_terminals() -> Mapping[str, tuple[str, ...]]:
    """The words that each kind of token of the grammar can be, in the order of the alphabet."""
    found: dict[str, tuple[str, ...]] = {kind: (word,) for kind, word in TERMINALS.items()}
    for kind, pattern in terminals().items():
        words = tuple(sorted(word for word in KEYWORDS if pattern.fullmatch(word)))
        if words and kind not in ("NAME", "ATTRIBUTE"):
            found[kind] = words
    return found


ALL_WORDS = KEYWORDS | SOFT | frozenset(TERMINALS.values())
"""Every word of the language, also those that are names elsewhere."""


def _words(accepted: Iterable[str] | None) -> Iterator[_Proposal]:
    """The words of the language that fit; all of them where there is no telling."""
    if accepted is None:
        fitting: Iterable[str] = sorted(ALL_WORDS)
    else:
        words = words_of_terminals()
        fitting = sorted({word for kind in accepted for word in words.get(kind, ())})
    windows = {kind.word: kind for kind in WINDOWS.values()}
    for word in fitting:
        if word in COMPARISONS:
            yield _Proposal(word, Kind.RELATION)
        else:
            example = f"while {windows[word].example}: collect …" if word in windows else ""
            yield _Proposal(word, Kind.CONSTANT if word in ("true", "false", "null") else Kind.KEYWORD, example)
    if accepted is not None and "_COLON_COLLECT" in accepted:
        yield _Proposal(": collect", Kind.KEYWORD)
