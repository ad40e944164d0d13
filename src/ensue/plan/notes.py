"""Notes on rules: those that keep something for ever, that a longest lifetime may change, and on ends of windows."""

from __future__ import annotations

from ensue.language import typed
from ensue.language.diagnostics import Report
from ensue.plan.advice import describe_rule
from ensue.plan.merging import note_merged
from ensue.rewriting import rewritten_rule
from ensue.temporal.describe import A_TIMER, describe_length
from ensue.temporal.instants import possible, with_instants
from ensue.temporal.keeping import can_change
from ensue.temporal.possible import head_span
from ensue.temporal.unlikely import note_strict_ends


def note(program: typed.Program, report: Report) -> None:
    """Report all notes on rules: facts worth knowing that may be intended."""
    note_kept(program, report)
    note_changed(program, report)
    note_strict_ends(program, report)
    note_merged(program, report)


def note_kept(program: typed.Program, report: Report) -> None:
    """Report a note for each pattern that a rule keeps for ever.

    Given events are taken to have one time each, as most have, unless a rule can only match intervals. Tuples that
    other events consume or end are not noted: the stream itself removes them.
    """
    instants = with_instants(program)
    for rule in program.rules:
        known = instants if possible(rule.body, instants.events) else program
        plan = describe_rule(rewritten_rule(rule, known.events).rule, known)
        unbounded = [each for part in plan.walk() for each in part.kept if not each.memory.bounded]
        if unbounded:
            what = " and ".join(dict.fromkeys(_every(each.what) for each in unbounded))
            advice = next((each.advice for each in unbounded if each.advice is not None), None)
            kept = "is kept for ever here, because a match may still come"
            if " and every " in what:
                kept = "are kept for ever here, because a match may still come"
            report.note(
                "W003", head_span(rule, report.source.text),
                f"{what} {kept}",
                advice or "`ensue explain` says what each part keeps",
            )  # fmt: skip


def note_changed(program: typed.Program, report: Report) -> None:
    """Report a note for each rule whose detections a largest lifetime (``keep 7d.``) may change.

    Given events are taken as in `note_kept`.
    """
    if program.keep is None:
        return
    instants = with_instants(program)
    for rule in program.rules:
        known = instants if possible(rule.body, instants.events) else program
        if possible(rule.body, known.events) and can_change(rule, known.events):
            report.note(
                "W005", head_span(rule, report.source.text),
                f"`keep {describe_length(program.keep, program)}` can change what this rule finds: "
                "it may look further back",
                "keep events longer if the rule must look further back; or bound it, as with `within`",
            )  # fmt: skip


def _every(what: str) -> str:
    """Phrase for stored tuples: an event by its name or as it is written, several by their names."""
    names = [what] if "(" in what else what.split(", ")
    if len(names) == 1:
        return f"every `{what}`" if what != A_TIMER else "every end of a timer"
    return f"every match of {' and '.join(f'`{name}`' for name in dict.fromkeys(names))}"
