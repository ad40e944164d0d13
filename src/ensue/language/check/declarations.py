"""Declarations of a program: unit of time, events and tables; heads and facts declare their names implicitly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta

from ensue.language import syntax
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import MICROSECONDS
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.functions import FUNCTIONS, TIMERS, Signature
from ensue.language.limits import LONGEST
from ensue.language.own import OwnFunction
from ensue.language.parameters import Parameter
from ensue.language.source import NOWHERE, Span
from ensue.language.types import DECLARED, Type
from ensue.records import dataclass

RESERVED_ATTRIBUTES = frozenset({"type", "start", "end", "time"})

OTHER_WORDS = {
    "integer": "int", "long": "int", "bigint": "int", "double": "float", "real": "float", "number": "float",
    "decimal": "float", "str": "string", "text": "string", "varchar": "string", "boolean": "bool",
    "datetime": "timestamp", "date": "timestamp", "time": "timestamp",
}  # fmt: skip
"""Names of the types in other languages, for hints."""


Known = Mapping[str, Mapping[str, Type]]
"""The types of attributes, by event."""


@dataclass
class Event:
    """An event type while the program is checked; the `types` of a derived event grow until they are stable."""

    name: str
    attributes: list[str]
    types: dict[str, Type]
    declared: bool = False
    derived: bool = False
    instant: bool = False
    open: bool = False
    """Neither declared nor derived: rules may use any attribute."""
    place: Span = NOWHERE
    """Position of its declaration, or of its first use."""
    each: bool = False
    """True if each match of its rules is a separate event."""
    clashing: bool = False
    """Two of its attributes have the same name, which has been reported."""


@dataclass
class Predicate:
    """A table or a static rule's predicate while the program is checked."""

    name: str
    columns: list[str]
    types: dict[str, Type]
    declared: bool = False
    derived: bool = False
    place: Span = NOWHERE


_ABOUT = "in microseconds that is about 36,500 years"


@dataclass
class Declarations:
    """All that can be named across rules."""

    report: Report
    unit: str | None = None
    durations: bool = False
    mixed: bool = False
    """True where timestamps stand beside times of events or lengths with units."""
    keep: int | None = None
    """The longest lifetime, in the time column's unit."""
    events: dict[str, Event] = field(default_factory=dict)
    predicates: dict[str, Predicate] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    """Names whose declarations are wrong, which has been reported."""
    known: Known = field(default_factory=dict)
    """Attribute types of undeclared events."""
    functions: Mapping[str, OwnFunction] = field(default_factory=dict)
    """The user's own functions, by name."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def signature(self, function: str) -> Signature | None:
        """The types of a function's arguments and result; None where there is none of the name."""
        own = self.functions.get(function)
        return FUNCTIONS.get(function) if own is None else own.signature

    def length(self, amount: syntax.Amount) -> int:
        """A length of time in the time column's unit, at most the longest there can be."""
        return self.not_too_long(self.duration(amount), amount.span)

    def not_too_long(self, length: int, span: Span, what: str = "this length of time is") -> int:
        """The same length; reports an error if it exceeds the longest length, and returns 1 then."""
        if abs(length) <= LONGEST:
            return length
        self.report.error(
            "E007", span, f"{what} too large", f"the longest is {LONGEST:,}, in the unit of the times; {_ABOUT}"
        )
        return 1

    def duration(self, amount: syntax.Amount) -> int:
        """A value in the time column's unit."""
        if not amount.timed:
            return amount.value
        self.durations = True
        return self.in_units(amount.value, amount.span)

    def in_units(self, microseconds: int, span: Span) -> int:
        """Microseconds as a whole number of the program's unit."""
        size = MICROSECONDS[self.unit] if self.unit else 1
        if microseconds % size:
            self.report.error(
                "E503", span, f"this is not a whole number of the program's unit, which is `{self.unit}`",
                "round it, or state a smaller unit, as in `unit us.`",
            )  # fmt: skip
        return microseconds // size

    def moment(self, text: str, span: Span) -> int:
        """A time written as text, in the time column's unit since 1970."""
        return self.in_units(self.timestamp(text, span), span)

    def timestamp(self, text: str, span: Span) -> int:
        """A timestamp written as text: microseconds since 1970, whatever the unit of times is."""
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            self.report.error(
                "E506", span, f'"{text}" is not a timestamp', 'write it in ISO 8601: "2026-12-25T12:00:00Z"'
            )
            return 0
        if found.tzinfo is None:
            found = found.replace(tzinfo=UTC)
        return (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def declare(
    file: syntax.File,
    report: Report,
    functions: Mapping[str, OwnFunction],
    parameters: Mapping[str, Parameter] | None = None,
) -> Declarations:
    """Reads all declarations; heads and facts declare names that no statement declares."""
    declarations = Declarations(report, lost=file.lost, functions=functions, parameters=parameters or {})
    labels: dict[str, Span] = {}
    for statement in file.statements:
        match statement:
            case syntax.Unit():
                _declare_unit(statement, declarations)
            case syntax.EventDeclaration():
                _declare_event(statement, declarations)
            case syntax.TableDeclaration():
                _declare_table(statement, declarations)
            case syntax.EventRule(label=label) | syntax.StaticRule(label=label) if label is not None:
                if label.text in labels:
                    report.error(
                        "E106", label.span, f"another rule is called `{label.text}` already", "give each its own name"
                    )
                labels[label.text] = label.span
    for statement in file.statements:
        match statement:
            case syntax.EventRule():
                _declare_by_head(statement, declarations)
            case syntax.Fact(call=head) if any(isinstance(each.value, syntax.Labelled) for each in head.arguments):
                hint = f"put `event` or `table` before `{head.name.text}`"
                report.error("E002", head.name.span, "this looks like a declaration without its first word", hint)
                declarations.lost |= {head.name.text}
            case syntax.StaticRule(head=head) | syntax.Fact(call=head):
                _declare_predicate(head, statement, declarations)
            case syntax.Keep():
                _declare_keep(statement, declarations)
    return declarations


def _declare_unit(statement: syntax.Unit, declarations: Declarations) -> None:
    word = statement.name.text
    if word not in MICROSECONDS:
        hint = f"a unit is one of {', '.join(MICROSECONDS)}"
        declarations.report.error("E108", statement.name.span, f"`{word}` is not a unit of time", hint)
        declarations.lost |= {"unit"}
    elif declarations.unit is not None:
        declarations.report.error(
            "E106", statement.name.span, f"the unit is stated already, as `{declarations.unit}`", "state it once"
        )
    else:
        declarations.unit = word


def _declare_keep(statement: syntax.Keep, declarations: Declarations) -> None:
    length = declarations.length(statement.length)
    if declarations.keep is not None:
        declarations.report.error(
            "E106", statement.span, "how long events are kept is stated already", "state it once, for all rules"
        )
    elif statement.length.value <= 0:
        declarations.report.error(
            "E504", statement.length.span, "events must be kept for a positive length of time", "as in `keep 7d.`"
        )
    else:
        declarations.keep = length


def _claim(name: syntax.Name, declarations: Declarations, of_event: bool) -> bool:
    """True if a name is free for an event or table; reports an error if it is not.

    An event may be called like a function, which stands elsewhere, and in backticks like a timer.
    """
    word, report = name.text, declarations.report
    if word in TIMERS and not (of_event and name.quoted):
        hint = f"choose another name, or write it in backticks wherever it is meant: `` `{word}` ``"
        report.error("E106", name.span, f"`{word}` is the name of a timer", hint if of_event else "choose another name")
        return False
    if not of_event and (word in AGGREGATES or word in FUNCTIONS):
        report.error("E106", name.span, f"`{word}` is the name of a function", "choose another name")
        return False
    if not of_event and word in declarations.functions:
        report.error(
            "E106", name.span, f"`{word}` is the name of one of your functions",
            "choose another name, or pass the function under another one",
        )  # fmt: skip
        return False
    if word in declarations.parameters:
        report.error("E106", name.span, f"`{word}` is the name of a parameter", "choose another name for one of them")
        return False
    known = declarations.events.get(word) or declarations.predicates.get(word)
    if known is not None:
        kind = "an event" if word in declarations.events else "a table" if known.declared else "a static predicate"
        line, _ = report.source.position(known.place.start)
        report.error(
            "E106", name.span, f"`{word}` is {kind} already, see line {line}", "declare it once, or choose another name"
        )
        return False
    return True


def _columns(columns: tuple[syntax.Column, ...], declarations: Declarations, of_event: bool) -> dict[str, Type]:
    types: dict[str, Type] = {}
    report = declarations.report
    for column in columns:
        name, word = column.name.text, column.type.text
        if name in types:
            report.error(
                "E106", column.name.span, f"there is {'an attribute' if of_event else 'a column'} `{name}` already",
                "give each its own name",
            )  # fmt: skip
        if of_event:
            check_attribute_name(column.name, report)
        if word not in DECLARED:
            same = OTHER_WORDS.get(word.lower())
            guess = f"did you mean `{same}`?" if same else did_you_mean(word, DECLARED)
            hint = guess or f"a type is one of {', '.join(DECLARED)}"
            report.error("E108", column.type.span, f"`{word}` is not a type", hint)
            word = "any"
        types[name] = word
    return types


def check_attribute_name(name: syntax.Name, report: Report) -> None:
    if name.text in RESERVED_ATTRIBUTES:
        report.error(
            "E109", name.span, f"an attribute cannot be called `{name.text}`",
            "type, time, start and end are the event's own; choose another name",
        )  # fmt: skip


def _declare_event(statement: syntax.EventDeclaration, declarations: Declarations) -> None:
    if _claim(statement.name, declarations, of_event=True):
        types = _columns(statement.columns, declarations, of_event=True)
        name = statement.name.text
        declarations.events[name] = Event(
            name, list(types), types, declared=True, instant=statement.instant, place=statement.name.span
        )


def _declare_table(statement: syntax.TableDeclaration, declarations: Declarations) -> None:
    if _claim(statement.name, declarations, of_event=False):
        types = _columns(statement.columns, declarations, of_event=False)
        name = statement.name.text
        declarations.predicates[name] = Predicate(name, list(types), types, declared=True, place=statement.name.span)


def head_names(head: syntax.Call) -> list[str]:
    """The attributes that a head gives, by the rules for names: of its variables, its aggregates, else by position."""
    names = []
    for position, argument in enumerate(head.arguments, start=1):
        match argument:
            case syntax.Argument(name=syntax.Name(text=text)):
                names.append(text)
            case syntax.Argument(value=syntax.Name(text=text)):
                names.append(text)
            case syntax.Argument(value=syntax.Literal(of=str() as text) | syntax.Amount(of=str() as text)):
                names.append(text)
            case syntax.Argument(value=syntax.Call(name=syntax.Name(text=text))) if text in AGGREGATES:
                names.append(text)
            case _:
                names.append(f"arg{position}")
    return names


def _declare_by_head(rule: syntax.EventRule, declarations: Declarations) -> None:
    head, report = rule.head, declarations.report
    name = head.name.text
    known = declarations.events.get(name)
    if known is not None:
        known.derived = True
        return
    if not _claim(head.name, declarations, of_event=True):
        return
    names: list[str] = []
    clashing = False
    for attribute, argument in zip(head_names(head), head.arguments, strict=True):
        place = argument.name.span if argument.name is not None else argument.span
        if attribute in names:
            written = " ".join(report.source.text[argument.value.span.start : argument.value.span.end].split())
            report.error(
                "E204", place, f"two attributes of `{name}` are called `{attribute}`",
                f"give one of them another name: `{attribute}_2 = {written}`",
            )  # fmt: skip
            attribute, clashing = f"{attribute} {len(names)}", True  # so that the others keep their places
        check_attribute_name(syntax.Name(attribute, span=place), report)
        names.append(attribute)
    types: dict[str, Type] = dict.fromkeys(names, "any" if clashing else "null")
    declarations.events[name] = Event(name, names, types, derived=True, place=head.name.span, clashing=clashing)


def _declare_predicate(head: syntax.Call, statement: syntax.Statement, declarations: Declarations) -> None:
    name = head.name.text
    derived = isinstance(statement, syntax.StaticRule)
    known = declarations.predicates.get(name)
    if known is None:
        if name in declarations.events:
            what, hint = "facts", "facts are of tables; events come with the data, or in a test after `given`"
            if derived:
                what, hint = "static rules", "an event is derived with `<-`; or choose another name"
            declarations.report.error("E106", head.name.span, f"`{name}` is an event, and cannot have {what} too", hint)
            return
        if not _claim(head.name, declarations, of_event=False):
            return
        columns = head_names(head)
        columns = columns if len(set(columns)) == len(columns) else [f"arg{i + 1}" for i in range(len(columns))]
        known = Predicate(name, columns, dict.fromkeys(columns, "null"), place=head.name.span)
        declarations.predicates[name] = known
    known.derived |= derived
