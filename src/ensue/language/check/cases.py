"""Tests and reactions: events written with their times, and actions for detections."""

from __future__ import annotations

from ensue.language import syntax, typed
from ensue.language.check.bodies import Bodies
from ensue.language.check.declarations import Declarations, Event
from ensue.language.check.patterns import BodyPosition, Pending
from ensue.language.check.phrases import a, written
from ensue.language.check.scope import Scope
from ensue.language.check.static import constant
from ensue.language.diagnostics import did_you_mean
from ensue.language.types import fits, is_list, item_of


def check_test(test: syntax.Test, declarations: Declarations) -> typed.Test | None:
    points = [p for o in (*test.given, *test.expect) if isinstance(o, syntax.Occurrence) for p in (o.start, o.end)]
    points += [test.until] if test.until is not None else []
    timestamps = _timestamps(points, declarations)
    given = [_occurrence(o, declarations, False, timestamps is not None) for o in test.given]
    until = _time(test.until, declarations) if test.until is not None else None
    expect: dict[str, list[typed.Occurrence]] = {}
    nothing: dict[str, syntax.Nothing] = {}
    for item in test.expect:
        if isinstance(item, syntax.Nothing):
            if _derived(item.type, declarations) is not None:
                nothing[item.type.text] = item
                expect.setdefault(item.type.text, [])
        else:
            found = _occurrence(item, declarations, True, timestamps is not None)
            if found is not None:
                expect.setdefault(found.event, []).append(found)
    for name, place in nothing.items():
        if expect[name]:
            declarations.report.error(
                "E702", place.span, f"the test expects `{name}` and no `{name}`", "leave one of them out"
            )
    if None in given:
        return None
    found_events = tuple(o for o in given if o)
    expected = {n: tuple(o) for n, o in expect.items()}
    settings = {setting.name.text: setting.value for setting in test.settings}
    written = {} if timestamps is None else {_time(p, declarations): _as_written(p) for p in reversed(points)}
    return typed.Test(
        test.title, found_events, until, expected, bool(timestamps), test.span, settings, written, declarations.unit
    )


def _as_written(point: syntax.Point) -> str:
    match point.value:
        case syntax.Amount(value=value, written=written):
            return str(value) if written is None else written
        case syntax.Literal(value=text):
            return f'"{text}"'


def _timestamps(points: list[syntax.Point], declarations: Declarations) -> bool | None:
    """True if a test's times are timestamps: no unit is stated, and durations or text occur. None if they mix."""
    if declarations.unit is not None or "unit" in declarations.lost:
        return False
    plain = [p for p in points if isinstance(p.value, syntax.Amount) and not p.value.timed]
    written = len(plain) < len(points)
    if plain and (written or declarations.durations):
        declarations.report.error(
            "E502", plain[0].span, "this time is a plain number, but other times or lengths are written with units",
            "state what a plain number means, as in `unit s.`, or write the times with units or as timestamps",
        )  # fmt: skip
        return None
    return written


def _time(point: syntax.Point, declarations: Declarations) -> int:
    match point.value:
        case syntax.Amount(value=value, timed=timed):
            return declarations.in_units(value, point.span) if timed else value
        case syntax.Literal(value=text):
            return declarations.moment(str(text), point.span)


def _derived(name: syntax.Name, declarations: Declarations) -> Event | None:
    event = declarations.events.get(name.text)
    if event is None and name.text in declarations.lost:
        return None  # its rule is wrong, which is reported already
    if event is None or not event.derived:
        known = [n for n, e in declarations.events.items() if e.derived]
        guess = did_you_mean(name.text, known)
        if guess or declarations.report.is_first("E701", name.text):
            hint = guess or "a test expects events that rules derive"
            declarations.report.error("E701", name.span, f"no rule derives `{name.text}`", hint)
        return None
    return event


def _occurrence(
    node: syntax.Occurrence, declarations: Declarations, expected: bool, timed: bool
) -> typed.Occurrence | None:
    call = node.call
    positional = bool(call.arguments) and call.arguments[0].name is None
    bodies = Bodies(declarations, call, set())
    event = _derived(call.name, declarations) if expected else bodies.event(call.name, positional)
    if event is None:
        return None
    derived = not expected and event.derived and not event.declared
    if derived and declarations.report.is_first("E705", event.name):
        listed = ", ".join(f"{name}: {event.types[name]}" for name in event.attributes)
        declarations.report.error(
            "E705", call.name.span, f"`{event.name}` cannot be given, because the rules derive it",
            f"give the events that it is derived from; or declare it: `event {event.name}({listed}).`",
        )  # fmt: skip
    if event.open:
        for argument in call.arguments:
            if argument.name is not None:
                bodies.expressions.attribute_type(event.name, argument.name)
    given = bodies.expressions.by_position(call, event.attributes, f"the event `{event.name}`")
    if given is None:
        return None
    attributes: dict[str, typed.Value] = {}
    for name, value in zip(event.attributes, given, strict=True):
        attributes[name] = None if value is None else _value(value, event, name, declarations)
    start, end = _time(node.start, declarations), _time(node.end, declarations)
    times = node.start.span.to(node.end.span)
    if start > end and timed:
        declarations.report.error("E703", times, "this event starts after its end", "write the earlier time first")
    elif event.instant and start != end:
        declarations.report.error(
            "E703", times, f"`{event.name}` is declared as `instant`", "such an event has one time, not two"
        )
    return typed.Occurrence(event.name, attributes, start, end, node.span)


def _value(node: syntax.Expression, event: Event, name: str, declarations: Declarations) -> typed.Value:
    wanted = event.types[name]
    if isinstance(node, syntax.ListLiteral):
        inner = item_of(wanted) if is_list(wanted) else "any"
        if not is_list(wanted) and wanted != "any":
            declarations.report.error(
                "E202", node.span, f"`{event.name}.{name}` is {a(wanted)}, this is a list", written(wanted)
            )
            return None
        found = [constant(item, inner, declarations) for item in node.items]
        return tuple(None if c is None else c.value for c in found)
    value = constant(node, wanted, declarations)
    if value is None:
        return None
    if not fits(value.type, wanted) and not (wanted == "int" and value.type == "float"):
        declarations.report.error(
            "E202", node.span, f"`{event.name}.{name}` is {a(wanted)}, this is {a(value.type)}", written(wanted)
        )
    return float(value.value) if wanted == "float" and isinstance(value.value, int) else value.value


def check_reaction(reaction: syntax.Reaction, declarations: Declarations) -> typed.Reaction | None:
    bodies = Bodies(declarations, reaction, set())
    pattern, scope = bodies.pattern(reaction.event, BodyPosition(), Pending())
    if not isinstance(pattern, typed.Atom):
        if isinstance(pattern, typed.Moment) and pattern.time == 0 and scope == Scope():
            return None  # reported
        declarations.report.error(
            "E704", reaction.event.span, "a reaction is to an event", "as in `on overdue(id) do notify(id).`"
        )
        return None
    condition = None
    if reaction.condition is not None:
        condition = bodies.expressions.condition(reaction.condition, scope, aggregates=False)
    for argument in reaction.action.arguments:
        if argument.name is not None:
            declarations.report.error(
                "E704", argument.span, "an action takes its arguments by position", "leave the name out"
            )
    action = reaction.action
    arguments = tuple(bodies.expressions.resolve(each.value, scope, aggregates=False) for each in action.arguments)
    return typed.Reaction(pattern, condition, action.name.text, arguments, reaction.span)
