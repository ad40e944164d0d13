"""A note for each rule that keeps something for ever: its memory grows with the stream."""

from __future__ import annotations

from ensue.language import typed
from ensue.language.check.possible import head_span
from ensue.language.diagnostics import Report
from ensue.temporal.instants import possible, with_instants
from ensue.temporal.plan import plan_of_rule


def note_kept(program: typed.Program, report: Report) -> None:
    """Notes what is kept for ever, the first of it for each rule.

    Given events are taken to have one time each, as most have, unless a rule can only match intervals. What is used up
    or ended by other events is not noted: it goes as the stream goes on.
    """
    instants = with_instants(program)
    for rule in program.rules:
        known = instants if possible(rule.body, instants.events) else program
        plan = plan_of_rule(rule, known.events)
        unbounded = [kept for part in plan.walk() for kept in part.kept if not kept.memory.bounded]
        if unbounded:
            what = " and ".join(dict.fromkeys(f"`{name}`" for name in unbounded[0].what.split(", ")))
            report.note(
                "W003", head_span(rule, report.source.text),
                f"every {what} is kept for ever here, in case something comes that it matches",
                unbounded[0].advice or "`ensue explain` says what each part keeps",
            )  # fmt: skip
