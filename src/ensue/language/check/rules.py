"""Event rules: body, head, and the types of derived events, which grow until they are stable."""

from __future__ import annotations

from typing import Any

from ensue.language import syntax, typed
from ensue.language.aggregates import AGGREGATES
from ensue.language.check.atoms import Atoms
from ensue.language.check.bodies import Bodies
from ensue.language.check.declarations import Declarations, Event
from ensue.language.check.named_values import fill_in, names_in
from ensue.language.check.often import check_each, check_quiet
from ensue.language.check.patterns import BodyPosition
from ensue.language.check.phrases import a, converted, counted
from ensue.language.check.static import constant
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.print import show
from ensue.language.types import common, fits, is_list


def check_rules(rules: list[syntax.EventRule], declarations: Declarations) -> tuple[typed.Rule, ...]:
    """All event rules, typed."""
    _infer_types(rules, declarations)
    check_each(rules, declarations)
    return tuple(checked for rule in rules if (checked := check_rule(rule, declarations)) is not None)


def _infer_types(rules: list[syntax.EventRule], declarations: Declarations) -> None:
    """Infer the attribute types of undeclared events: the common types of their heads.

    A rule is looked at again only when the type of an event that it mentions has changed.
    """
    inferred = [r for r in rules if (e := declarations.events.get(r.head.name.text)) is not None and not e.declared]
    users: dict[str, list[int]] = {}
    for index, rule in enumerate(inferred):
        for name in _mentioned(rule.body):
            users.setdefault(name, []).append(index)
    real = declarations.report
    declarations.report = Report(real.source)
    waiting = list(range(len(inferred)))
    turns = 0
    while waiting and turns < 20 * len(inferred) + 100:
        turns += 1
        rule = inferred[waiting.pop(0)]
        event = declarations.events[rule.head.name.text]
        before = dict(event.types)
        checked = check_rule(rule, declarations)
        if checked is not None:
            for name, expression in checked.head:
                event.types[name] = common(event.types[name], expression.type) or event.types[name]
        if event.types != before:
            waiting.extend(i for i in users.get(event.name, []) if i not in waiting)
    declarations.report = real


def _mentioned(body: syntax.Body) -> set[str]:
    names: set[str] = set()
    waiting: list[syntax.Node] = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, syntax.Name):
            names.add(node.text)
        waiting.extend(node.children())
    return names


def check_rule(rule: syntax.EventRule, declarations: Declarations) -> typed.Rule | None:
    head = rule.head
    event = declarations.events.get(head.name.text)
    if event is None:
        return None  # the head's name was refused
    taken = Atoms(declarations, rule, set()).names | set(declarations.parameters)
    filled = fill_in(rule, taken, declarations.report)
    plain = {each.value.text for each in head.arguments if isinstance(each.value, syntax.Name)} - set(filled.values)
    bodies = Bodies(declarations, filled.body, plain)
    bodies.expressions.head_terms = {each.name.text: show(each.value) for each in head.arguments if each.name}
    body, scope = bodies.body(filled.body, BodyPosition())
    for name, value in filled.unused:
        absent = sorted(names_in(value) & set(bodies.expressions.absent))
        if absent and scope.find_variable(absent[0]) is None:
            declarations.report.error(
                "E105", value.span,
                f"`{name}` is computed from `{absent[0]}`, which stands only under `not`, and nothing uses it",
                f"compare it there, as in `not (…, {name} = …, {name} > 3)`, or leave it out",
            )  # fmt: skip
        else:
            bodies.expressions.resolve(value, scope)
    _check_bound_elsewhere(bodies)
    terms = _terms(head, event, declarations.report)
    checked: list[tuple[str, typed.Expression]] = []
    for name, written in terms:
        argument = filled.term(written)
        inside = scope.inside((body.window.id,)) if body.window and not _aggregated(argument) else scope
        inside.variables |= scope.variables  # an event outside may have a float where those inside have integers
        inside.gathered = scope.gathered
        inside.partial = scope.partial
        expression = bodies.expressions.resolve(argument, inside)
        wanted = event.types[name]
        if event.declared and not fits(expression.type, wanted):
            declarations.report.error(
                "E202", argument.span,
                f"`{event.name}.{name}` is declared as {a(wanted)}, this is {a(expression.type)}",
                converted(wanted) or "change the declaration",
            )  # fmt: skip
        elif not event.declared and common(wanted, expression.type) is None:
            declarations.report.error(
                "E207", argument.span,
                f"`{name}` is {a(expression.type)} here and {a(wanted)} in another rule for `{event.name}`",
                "give it the same type in all rules",
            )  # fmt: skip
        elif event.declared and is_list(expression.type):
            pass
        checked.append((name, expression))
    beginning = rule.beginning
    if beginning is not None and scope.find_label(beginning.text) is None:
        instead = (
            "`from` names one event: one that is not collected. To know when the first began, use an aggregate: "
            f"`first({beginning.text}.start)`"
        )
        bodies.report_no_label(beginning, scope, instead=instead)
    label = rule.label.text if rule.label else None
    about = check_about(rule.about, declarations)
    begins = beginning.text if beginning else None
    quiet = check_quiet(rule.body, dict(checked), event, declarations)
    return typed.Rule(label, event.name, tuple(checked), body, begins, rule.span, about, quiet)


def check_about(about: syntax.About | None, declarations: Declarations) -> typed.About:
    """A rule's title and settings, which are constants."""
    settings: dict[str, typed.Value] = {}
    for setting in about.settings if about is not None else ():
        key = setting.name.text
        if key in settings:
            declarations.report.error("E106", setting.name.span, f"`{key}` is already given", "give it once")
        settings[key] = _setting(setting.value, declarations)
    return typed.About(None if about is None else about.title, tuple(settings.items()))


def _setting(node: Any, declarations: Declarations) -> typed.Value:
    match node:
        case syntax.Group(body=syntax.Body(items=items, suffixes=())):
            return tuple(_setting(item, declarations) for item in items)
        case syntax.ListLiteral(items=items):
            return tuple(_setting(item, declarations) for item in items)
        case syntax.Amount():
            return show(node)
        case syntax.Literal(value=value):
            return value
        case _:
            found = constant(node, "string", declarations)
            return None if found is None else found.value


def _aggregated(node: syntax.Node) -> bool:
    if isinstance(node, syntax.Call) and node.name.text in AGGREGATES:
        return True
    return any(_aggregated(child) for child in node.children())


def _terms(head: syntax.Call, event: Event, report: Report) -> list[tuple[str, syntax.Expression]]:
    """The head's terms by attribute: by name where one is written, else by position."""
    terms: dict[str, syntax.Expression] = {}
    report = Report(report.source) if event.clashing else report  # its error is reported already
    unknown = False
    for position, argument in enumerate(head.arguments):
        if argument.name is not None:
            name = argument.name.text
            if name not in event.types:
                hint = did_you_mean(name, event.attributes) or _has(event)
                report.error("E203", argument.name.span, f"the event `{event.name}` has no attribute `{name}`", hint)
                unknown = True
                continue
        elif position < len(event.attributes):
            name = event.attributes[position]
        else:
            has = counted(len(event.attributes), "attribute") if event.attributes else "no attributes"
            same = f"every rule for it gives the same: {', '.join(event.attributes)}"
            report.error(
                "E203", argument.span, f"the event `{event.name}` has {has}, this is one more",
                same if event.attributes else "leave it out",
            )  # fmt: skip
            continue
        if name in terms:
            place = argument.name.span if argument.name is not None else argument.span
            report.error("E203", place, f"the attribute `{name}` is already given", "give each attribute once")
        terms[name] = argument.value
    missing = [name for name in event.attributes if name not in terms]
    if missing and not unknown and len(head.arguments) <= len(event.attributes):
        report.error(
            "E203", head.span, f"the head does not give {', '.join(f'`{name}`' for name in missing)}",
            f"every rule for `{event.name}` gives all of: {', '.join(event.attributes)}",
        )  # fmt: skip
    return [(name, terms[name]) for name in event.attributes if name in terms]


def _has(event: Event) -> str:
    return f"it has {', '.join(event.attributes)}" if event.attributes else "it has no attributes"


def _check_bound_elsewhere(bodies: Bodies) -> None:
    """Names that must not be bound outside a part of the rule: sides of `or`, negations, cumulative constituents.

    Names that are bound on one side of an `or`, or have many values, cannot be used in negated or collected patterns.
    """
    if bodies.expressions.incomplete:
        return
    for case in bodies.elsewhere:
        part = case.part
        for bound, at in bodies.bound if case.code == "E303" else bodies.used:
            if bound == case.name and not (part.start <= at.start and at.end <= part.end):
                if bodies.expressions.is_news(case.name):
                    bodies.report.error(case.code, case.place or at, case.message, case.hint)
                break
