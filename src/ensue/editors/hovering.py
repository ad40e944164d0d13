"""Hovering over a name: its type, its declaration, a function's sentence, a rule's state."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.editors.completion import type_of_attribute
from ensue.editors.kinds import Kind
from ensue.editors.names import Named, Statement
from ensue.editors.places import Range, offset_of, range_of
from ensue.editors.text import Functions, Text, shown, text_of
from ensue.explain.phrases import describe_kept
from ensue.language import typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import token_span
from ensue.language.functions import FUNCTIONS, TIMERS
from ensue.language.nodes import nodes
from ensue.language.print import show
from ensue.plan.advice import describe_rule
from ensue.records import dataclass
from ensue.rewriting import rewritten_rule
from ensue.temporal.describe import describe_length
from ensue.temporal.instants import possible, with_instants


@dataclass(frozen=True)
class Hover:
    """The text to show at a place: a line of code, and sentences below it."""

    range: Range
    code: str
    sentences: tuple[str, ...] = ()

    @property
    def markdown(self) -> str:
        """All of it as Markdown."""
        return "\n\n".join([f"```ensue\n{self.code}\n```", *self.sentences])


def hover(text: str, line: int, column: int, *, functions: Functions = None) -> Hover | None:
    """Describe the name at a line and column; None where there is nothing.

    >>> found = hover("event order(id: int).\\nbig(i) <- order(i).", 2, 17)
    >>> found.code
    'i: int'
    >>> print(*hover("event a(). event b(). c() <- a() seq b() within 5.", 1, 23).sentences, sep="\\n")
    keeps a: for 5
    """
    known = text_of(text, functions=functions)
    found = known.name_at(offset_of(known.source, line, column))
    if found is None:
        return None
    named, statement = found
    description = _describe(known, named, statement)
    return (
        None
        if description is None
        else Hover(range_of(known.source, named.span), description[0], tuple(description[1]))
    )


_Description = tuple[str, list[str]]


def _describe(text: Text, named: Named, statement: Statement) -> _Description | None:
    names, name = text.names, named.text
    match named.kind:
        case Kind.EVENT | Kind.RULE if named.declares and statement.head is not None:
            return _rule(text, statement)
        case Kind.EVENT if name in names.events:
            return shown(names.events[name], "event"), list(_event(text, name))
        case Kind.TABLE if name in names.tables:
            return shown(names.tables[name], "table"), []
        case Kind.PARAMETER if name in names.parameters:
            return _parameter(text, name)
        case Kind.FUNCTION if name in FUNCTIONS:
            return f"{FUNCTIONS[name].shown(name)}: {FUNCTIONS[name].result}", [FUNCTIONS[name].text]
        case Kind.FUNCTION if name in text.functions:
            return f"{name}(…)", ["your own function"]
        case Kind.AGGREGATE:
            return f"{name}(…)", [AGGREGATES[name].text]
        case Kind.TIMER:
            return f"{name}(…)", [TIMERS[name]]
        case Kind.LABEL if name in statement.labels:
            of = statement.labels[name]
            known = names.events.get(of or "")
            return (f"{name}: {of or 'a pattern'}", []) if known is None else (f"{name}: {shown(known, 'event')}", [])
        case Kind.ATTRIBUTE:
            return _attribute(named, statement)
        case Kind.VARIABLE if name != "_":
            type_ = _type_in_rule(text, statement, name) or type_of_attribute(statement.variables.get(name), names)
            return f"{name}: {type_}" if type_ else name, []
    return None


def _attribute(named: Named, statement: Statement) -> _Description | None:
    owner = statement.labels.get(named.owner or "", named.owner) or ""
    if named.text in ("start", "end") and named.owner in statement.labels:
        return f"{named.owner}.{named.text}: time", ["when it began" if named.text == "start" else "when it ended"]
    type_ = type_of_attribute((owner, named.text), statement.names)
    return (f"{named.text}: {type_}", [f"an attribute of {owner}"]) if type_ else None


def _parameter(text: Text, name: str) -> _Description:
    type_ = text.names.parameters[name].attributes.get("") or "any"
    value = next((each.value for each in text.checked[0].parameters if each.name == name), None)
    if value is None:
        return f"param {name}: {type_}", ["it has no value yet, and must be given one"]
    return f"param {name}: {type_} = {show(value)}", []


def _event(text: Text, name: str) -> Iterator[str]:
    """Length of events of a type, and the rules that derive them, in words."""
    program, fine = text.checked
    event = program.events.get(name)
    if event is None:
        return
    if event.instant:
        yield "instantaneous: its start is its end"
    elif fine and event.derived and event.length[1] is not None and not event.declared:
        yield f"lasts {describe_length(event.length[1], program)} at most"
    lines = [str(text.source.position(rule.span.start)[0]) for rule in program.rules if rule.event == name]
    if lines:
        yield f"derived by {'the rule in line' if len(lines) == 1 else 'the rules in lines'} {', '.join(lines)}"


# --- rules


def _typed_rule(text: Text, statement: Statement) -> typed.Rule | None:
    begin, end = token_span(statement.tokens[0]).start, token_span(statement.tokens[-1]).end
    return next((rule for rule in text.checked[0].rules if begin <= rule.span.start < end), None)


def _type_in_rule(text: Text, statement: Statement, name: str) -> str | None:
    """The type that the checker gives a variable of a rule; None where it does not get as far."""
    rule = _typed_rule(text, statement)
    parts = () if rule is None else nodes((rule.body, rule.head))
    types = (each.type for each in parts if isinstance(each, typed.Variable) and each.name == name)
    return next((type_ for type_ in types if type_ != "any"), None)


def _rule(text: Text, statement: Statement) -> _Description | None:
    """The event that a rule derives, and the state that the rule keeps."""
    rule = _typed_rule(text, statement)
    if rule is None:
        known = text.names.events.get(str(statement.tokens[statement.head or 0].value).strip("`"))
        return None if known is None else (shown(known, "event"), [])
    code = shown(text.names.events[rule.event], "event") if rule.event in text.names.events else rule.event
    title = [rule.about.title] if rule.about.title is not None else []
    program, fine = text.checked
    return code, [*title, *(_kept(rule, program) if fine and not program.missing else ())]


def _kept(rule: typed.Rule, program: typed.Program) -> Iterator[str]:
    """Describe the state of a rule, and how to bound it; given events are taken to have one time each, as most have."""
    instants = with_instants(program)
    known = instants if possible(rule.body, instants.events) else program
    plan = describe_rule(rewritten_rule(rule, known.events).rule, known)
    kept = [each for part in plan.walk() for each in part.kept]
    for each in dict.fromkeys(kept):
        yield f"keeps {describe_kept(each, known)}"
        if each.advice is not None and not each.memory.bounded:
            yield f"to bound it, {each.advice}"
    if not kept:
        yield "keeps nothing"
