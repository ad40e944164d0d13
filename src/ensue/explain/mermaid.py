"""An explanation as a flowchart: events flow through the parts of rules, a box for each rule."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.explain.explained import Explained, RuleExplained
from ensue.explain.phrases import describe_kept, describe_observed, describe_others, describe_sharing
from ensue.language import typed
from ensue.plan.description import Description


def drawn(explanation: Explained) -> str:
    program = explanation.program
    lines = ["flowchart TD"]
    for name, event in program.events.items():
        lines.append(f"  {_event(name, program)}{'([' if not event.derived else '[/'}{_quoted(name)}"
                     f"{'])' if not event.derived else '/]'}")  # fmt: skip
    for rule in explanation.rules:
        title = f"{rule.name}, line {rule.line}{describe_others(rule, explanation)}"
        lines.append(f"  subgraph r{rule.number}[{_quoted(title)}]")
        lines += [f"    {line}" for line in _part(rule.plan, rule, explanation)]
        lines.append("  end")
        lines += [f"  {_event(name, program)} --> {node}" for node, name in _sources(rule)]
        lines.append(f"  {_node(rule.plan, rule)} ==> {_event(rule.event, program)}")
    return "\n".join(lines)


def _part(part: Description, rule: RuleExplained, explanation: Explained) -> Iterator[str]:
    label = [part.title, *describe_sharing(part, rule, explanation)]
    label += [f"keeps {describe_kept(kept, explanation.program)}" for kept in part.kept]
    label += [f"checks {condition}" for condition in part.checks]
    if part.key in rule.observed:
        label.append(describe_observed(rule.observed[part.key]))
    yield f"{_node(part, rule)}[{_quoted('<br>'.join(map(_escaped, label)), escape=False)}]"
    for inner in part.parts:
        yield from _part(inner, rule, explanation)
        yield f"{_node(inner, rule)} {_arrow(inner, part)} {_node(part, rule)}"


def _arrow(inner: Description, part: Description) -> str:
    """An edge, dashed for absences and gatherings, labelled where the join streams or suppresses that side."""
    done = (("streams", part.streams), ("suppresses", part.suppresses))
    words = [word for word, names in done if _side(inner) in names or inner.title in names]
    arrow = "-.->" if inner.kind in ("absence", "gathering") else "-->"
    return f"{arrow}|{' and '.join(words)}|" if words else arrow


def _side(part: Description) -> str:
    """The events of a part, as a join calls its side."""
    return ", ".join(dict.fromkeys(each.event for each in part.walk() if each.event is not None))


def _sources(rule: RuleExplained) -> Iterator[tuple[str, str]]:
    for part in rule.plan.walk():
        if part.event is not None:
            yield _node(part, rule), part.event


def _node(part: Description, rule: RuleExplained) -> str:
    return f"r{rule.number}_{part.kind}{part.id}"


def _event(name: str, program: typed.Program) -> str:
    return f"e{list(program.events).index(name)}"


def _quoted(text: str, escape: bool = True) -> str:
    return f'"{_escaped(text) if escape else text}"'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
