"""What a plan says, in the words that its text and its picture share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.explain.explanation import Differing, Explanation, Observed, RuleExplained
from ensue.language import typed
from ensue.partitioning import ByKey, ByRow, BySlices, Stage, Whole, hindrance
from ensue.partitioning.obstacles import no_stages_said
from ensue.plan.description import Description, Kept
from ensue.temporal.memory import Kind, Memory
from ensue.temporal.said import expression_said, length_said

MOST_SHOWN = 5
"""How many rules or constants are named, each."""


def kept_said(kept: Kept, program: typed.Program) -> str:
    """What is kept, by which key, for how long, and after what."""
    after = "" if kept.after is None else f", only after {kept.after}{' of its key' if kept.key else ''}"
    return _length_said(kept, program) + after


def _length_said(kept: Kept, program: typed.Program) -> str:
    by = f" by {', '.join(kept.key)}" if kept.key else ""
    memory = kept.memory
    match memory.kind:
        case Kind.CONSTANT:
            of = f" for each {', '.join(kept.key)}" if kept.key else ""
            return f"{kept.what}: {'one' if memory.size == 1 else f'the last {memory.size}'}{of}"
        case Kind.WINDOW if memory.size == 0:
            return f"{kept.what}{by}: those of one time"
        case Kind.WINDOW:
            return f"{kept.what}{by}: for {length_said(memory.size, program)}"
        case Kind.UNTIL:
            return f"{kept.what}{by}: until the next {memory.by}{' of its key' if kept.key else ''}"
        case _:
            return f"{kept.what}{by}: for ever"


def memory_said(memory: Memory, program: typed.Program) -> str:
    """What bounds the memory of a part."""
    match memory.kind:
        case Kind.NOTHING:
            return "nothing"
        case Kind.CONSTANT:
            return "nothing" if memory.size == 0 else f"constant for each key ({memory.size})"
        case Kind.WINDOW if memory.size == 0:
            return "the events of one time"
        case Kind.WINDOW:
            return f"proportional to the events of {length_said(memory.size, program)}"
        case Kind.UNTIL:
            return f"what comes before the next {memory.by}"
        case _:
            return "unbounded"


def waits_said(rule: RuleExplained) -> str:
    """When a session hands out what a rule detects."""
    return "handed out at once" if rule.waits is None else f"waits for its step, because {rule.waits}"


def others_said(rule: RuleExplained, explanation: Explanation) -> str:
    """How many others run as one with a rule, after its name; nothing where it runs by itself."""
    return "" if rule.family is None else f", as one with {len(explanation.families[rule.family].rules) - 1:,} others"


def rules_said(rules: Sequence[int], explanation: Explanation) -> str:
    """Rules by their names, with where they are; not all of many."""
    own = [explanation.rules[number] for number in rules]
    if len(own) <= MOST_SHOWN:
        return ", ".join(f"{rule.name} (line {rule.line})" for rule in own)
    names, lines = list(dict.fromkeys(rule.name for rule in own)), [rule.line for rule in own]
    return f"{_listed(names)} ({len(own):,} rules, lines {min(lines)} to {max(lines)})"


def sharing_said(part: Description, rule: RuleExplained, explanation: Explanation) -> list[str]:
    """Which other rules have a part, too; nothing where it is the rule's own."""
    if part.shared is None:
        return []
    others = rule.shared[part.shared]
    return [f"shared with {rules_said(others, explanation)}" if others else "shared by several places of this rule"]


def differing_said(constant: Differing, program: typed.Program) -> str:
    """The values of a constant in rules that run as one, not all of many, and what it is good for."""
    values = [expression_said(typed.Constant(value, constant.type), program) for value in constant.values]
    use = {"index": "; rules are found by it", "order": "; rules are looked at in its order", None: ""}[constant.use]
    return _listed(list(dict.fromkeys(values))) + use


def _listed(texts: Sequence[str]) -> str:
    """Texts with commas, those in the middle left out where there are many."""
    return ", ".join(texts) if len(texts) <= MOST_SHOWN else ", ".join([*texts[:3], "…", texts[-1]])


def notes_of(part: Description, program: typed.Program) -> Iterator[str]:
    """What there is to say of a part, a line each."""
    for kept in part.kept:
        yield f"keeps {kept_said(kept, program)}"
        if kept.advice is not None:
            yield f"to bound it, {kept.advice}"
    for name in part.streams:
        yield f"streams {name}: it only matches what came before, so it is not stored"
    for name in part.suppresses:
        yield f"suppresses {name}: it is not evaluated while nothing of its key waits for it"
    for condition in part.checks:
        yield f"checks {condition}"


def observed_said(observed: Observed) -> str:
    found = f"{observed.rows_in:,} in, {observed.rows_out:,} out, at most {observed.most_kept:,} kept"
    return found if observed.suppressed is None else f"{found}, {observed.suppressed:,} suppressed"


def stage_said(stage: Stage, program: typed.Program) -> str:
    """How the events of a stage are parted."""
    match stage.parting:
        case ByKey(keys=keys):
            parts = [f"{name}({', '.join(keys[name])})" if name in keys else name for name in stage.reads]
            return f"by key: {', '.join(parts)}"
        case BySlices(extent=extent):
            return f"by slices of time that overlap by {length_said(extent, program)}: {', '.join(stage.reads)}"
        case ByRow():
            return f"row by row, without a shuffle: {', '.join(stage.reads) or 'nothing but time'}"
        case Whole():
            return f"in one part: {', '.join(stage.reads)}"


def obstacles_said(stage: Stage, explanation: Explanation) -> Iterator[str]:
    """Why a stage is not parted, or not by key where keys form a chain."""
    match stage.parting:
        case Whole(obstacles=obstacles):
            for obstacle in obstacles:
                yield f"{_line_said(obstacle.rule, explanation)}: {obstacle.reasons}"
        case BySlices():
            for number in stage.rules:
                reason = hindrance(explanation.program, number)
                if reason is not None:
                    yield f"{_line_said(number, explanation)}: {no_stages_said(reason)}"


def joined_said(stage: Stage, explanation: Explanation) -> Iterator[str]:
    """Names for the events of a stage that no rule as it is written derives."""
    for each in explanation.parted.joined:
        if each.event in stage.derives:
            rule = _line_said(each.rule, explanation)
            yield f"{each.event} is what {rule} matches by {each.key}: no one variable has a value in all its events"


def _line_said(number: int, explanation: Explanation) -> str:
    rule = explanation.rules[number]
    return f"{rule.name} (line {rule.line})"
