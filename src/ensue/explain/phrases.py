"""Phrases of a plan that its text and its picture share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.explain.explained import Differing, Explained, Observed, RuleExplained
from ensue.language import typed
from ensue.partitioning import ByKey, ByRow, BySlices, Stage, Whole, hindrance
from ensue.partitioning.obstacles import describe_hindrance
from ensue.plan.description import Description, Kept
from ensue.temporal.describe import describe_expression, describe_length
from ensue.temporal.memory import Kind, Memory

MOST_SHOWN = 5
"""Most rules or constants that are named one by one."""


def describe_kept(kept: Kept, program: typed.Program) -> str:
    """Phrase for stored tuples: their key, their lifetime, and the event that must come first."""
    after = "" if kept.after is None else f", only after {kept.after}{' of its key' if kept.key else ''}"
    return _describe_length(kept, program) + after


def _describe_length(kept: Kept, program: typed.Program) -> str:
    by = f" by {', '.join(kept.key)}" if kept.key else ""
    memory = kept.memory
    match memory.kind:
        case Kind.CONSTANT:
            of = f" for each {', '.join(kept.key)}" if kept.key else ""
            return f"{kept.what}: {'one' if memory.size == 1 else f'the last {memory.size}'}{of}"
        case Kind.WINDOW if memory.size == 0:
            return f"{kept.what}{by}: those of one time"
        case Kind.WINDOW:
            return f"{kept.what}{by}: for {describe_length(memory.size, program)}"
        case Kind.UNTIL:
            return f"{kept.what}{by}: until the next {memory.by}{' of its key' if kept.key else ''}"
        case _:
            return f"{kept.what}{by}: for ever"


def describe_memory(memory: Memory, program: typed.Program) -> str:
    """Phrase for the bound on the memory of a part."""
    match memory.kind:
        case Kind.NOTHING:
            return "nothing"
        case Kind.CONSTANT:
            return "nothing" if memory.size == 0 else f"constant for each key ({memory.size})"
        case Kind.WINDOW if memory.size == 0:
            return "the events of one time"
        case Kind.WINDOW:
            return f"proportional to the events of {describe_length(memory.size, program)}"
        case Kind.UNTIL:
            return f"what comes before the next {memory.by}"
        case _:
            return "unbounded"


def describe_waiting(rule: RuleExplained) -> str:
    """Phrase for the moment at which a session puts out the detections of a rule."""
    return "returned at once" if rule.waits is None else f"waits for its step, because {rule.waits}"


def describe_others(rule: RuleExplained, explanation: Explained) -> str:
    """Phrase for the number of other rules that run as one with a rule; empty where it runs by itself."""
    return "" if rule.family is None else f", as one with {len(explanation.families[rule.family].rules) - 1:,} others"


def describe_rules(rules: Sequence[int], explanation: Explained) -> str:
    """Names and lines of rules; of many, only some."""
    own = [explanation.rules[number] for number in rules]
    if len(own) <= MOST_SHOWN:
        return ", ".join(f"{rule.name} (line {rule.line})" for rule in own)
    names, lines = list(dict.fromkeys(rule.name for rule in own)), [rule.line for rule in own]
    return f"{_listed(names)} ({len(own):,} rules, lines {min(lines)} to {max(lines)})"


def describe_sharing(part: Description, rule: RuleExplained, explanation: Explained) -> list[str]:
    """Phrase for the other rules that share a part; empty where it is the rule's own."""
    if part.shared is None:
        return []
    others = rule.shared[part.shared]
    return [f"shared with {describe_rules(others, explanation)}" if others else "shared by several places of this rule"]


def describe_differing(constant: Differing, program: typed.Program) -> str:
    """The values of a constant in rules that run as one, only some of many, and its purpose."""
    values = [describe_expression(typed.Constant(value, constant.type), program) for value in constant.values]
    use = {"index": "; rules are found by it", "order": "; rules are looked at in its order", None: ""}[constant.use]
    return _listed(list(dict.fromkeys(values))) + use


def _listed(texts: Sequence[str]) -> str:
    """Texts with commas, those in the middle left out where there are many."""
    return ", ".join(texts) if len(texts) <= MOST_SHOWN else ", ".join([*texts[:3], "…", texts[-1]])


def notes_of(part: Description, program: typed.Program) -> Iterator[str]:
    """Notes on a part, a line each."""
    for kept in part.kept:
        yield f"keeps {describe_kept(kept, program)}"
        if kept.advice is not None:
            yield f"to bound it, {kept.advice}"
    for name in part.streams:
        yield f"streams {name}: it only matches what came before, so it is not stored"
    for name in part.suppresses:
        yield f"suppresses {name}: it is not evaluated while nothing of its key waits for it"
    for condition in part.checks:
        yield f"checks {condition}"


def describe_observed(observed: Observed) -> str:
    found = f"{observed.rows_in:,} in, {observed.rows_out:,} out, at most {observed.most_kept:,} kept"
    return found if observed.suppressed is None else f"{found}, {observed.suppressed:,} suppressed"


def describe_stage(stage: Stage, program: typed.Program) -> str:
    """Phrase for the partitioning of a stage's events."""
    match stage.parting:
        case ByKey(keys=keys):
            parts = [f"{name}({', '.join(keys[name])})" if name in keys else name for name in stage.reads]
            return f"by key: {', '.join(parts)}"
        case BySlices(extent=extent):
            return f"by slices of time that overlap by {describe_length(extent, program)}: {', '.join(stage.reads)}"
        case ByRow():
            return f"row by row, without a shuffle: {', '.join(stage.reads) or 'nothing but time'}"
        case Whole():
            return f"in one part: {', '.join(stage.reads)}"


def describe_obstacles(stage: Stage, explanation: Explained) -> Iterator[str]:
    """Reasons why a stage is not partitioned, or not by key where keys form a chain."""
    match stage.parting:
        case Whole(obstacles=obstacles):
            for obstacle in obstacles:
                yield f"{_describe_line(obstacle.rule, explanation)}: {obstacle.reasons}"
        case BySlices():
            for number in stage.rules:
                reason = hindrance(explanation.program, number)
                if reason is not None:
                    yield f"{_describe_line(number, explanation)}: {describe_hindrance(reason)}"


def describe_joined(stage: Stage, explanation: Explained) -> Iterator[str]:
    """Names for the events of a stage that none of the written rules derives."""
    for each in explanation.parted.joined:
        if each.event in stage.derives:
            rule = _describe_line(each.rule, explanation)
            yield f"{each.event} is what {rule} matches by {each.key}: no one variable has a value in all its events"


def _describe_line(number: int, explanation: Explained) -> str:
    rule = explanation.rules[number]
    return f"{rule.name} (line {rule.line})"
