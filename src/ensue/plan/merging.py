"""Notes on events that may have been merged before they are counted.

Equal derived events are one. So a rule whose head leaves out attributes of its match may derive fewer events than it
has matches, and an aggregate over these counts fewer; ``all`` keeps matches separate.
"""

from __future__ import annotations

from collections.abc import Iterator

from ensue.language import typed
from ensue.language.diagnostics import Report
from ensue.language.nodes import nodes
from ensue.language.walk import atoms

COUNTING = frozenset({"count", "sum", "avg", "stddev", "variance", "median", "quantile", "list"})
"""The aggregates that change if an event counts twice."""


def note_merged(program: typed.Program, report: Report) -> None:
    """Report a note for each place where derived events are counted that may have been merged."""
    merging = {
        rule.event for rule in program.rules if not program.events[rule.event].each and _leaves_out(rule, program)
    }
    for rule in program.rules:
        counted = dict.fromkeys(
            atom
            for aggregate in nodes((rule.head, rule.body))
            if isinstance(aggregate, typed.Aggregate) and aggregate.name in COUNTING and aggregate.path
            for atom in _gathered(rule.body, aggregate.path[-1])
        )
        for atom in counted:
            if atom.event in merging:
                report.note(
                    "W006", atom.span,
                    f"equal events `{atom.event}` are merged into one, so this may count fewer than there were matches",
                    f"if each match counts, keep them apart: `all {atom.event}(…) <- …`",
                )  # fmt: skip


def _leaves_out(rule: typed.Rule, program: typed.Program) -> bool:
    """True if different matches may derive equal events: the head lacks a variable or attribute of the match."""
    terms = [term for _, term in rule.head]
    variables = {term.name for term in terms if isinstance(term, typed.Variable)}
    attributes = {(term.label, term.attribute) for term in terms if isinstance(term, typed.AttributeOf)}
    matched = [] if rule.body.pattern is None else list(atoms(typed.Body(rule.body.pattern)))
    for atom in matched:
        fields = dict(atom.fields)
        for name in program.events[atom.event].attributes:
            term = fields.get(name)
            known = isinstance(term, typed.Constant) or (isinstance(term, typed.Variable) and term.name in variables)
            if not known and (atom.label, name) not in attributes:
                return True
    return False


def _gathered(body: typed.Body, gathering: int) -> Iterator[typed.Atom]:
    """The events that are gathered under an id, in a body or inside it."""
    for node in nodes(body):
        patterns: list[typed.Pattern | None] = []
        match node:
            case typed.Gathering() | typed.Window() | typed.Run() if node.id == gathering:
                patterns = [node.pattern]
            case typed.Pair():
                sides = ((node.left_gathering, node.left), (node.right_gathering, node.right))
                patterns = [side for id_, side in sides if id_ == gathering]
        for pattern in patterns:
            yield from atoms(typed.Body(pattern))
