"""Rules added and removed while a session runs: all is checked as a whole, and rules that stay keep their state.

A rule stays if it is written as before. A new one sees the events from now on: it knows nothing of the past, so timers
that would have begun there do not exist for it.
"""

from __future__ import annotations

from ensue.data import DataError
from ensue.data.errors import did_you_mean, listed
from ensue.language import syntax
from ensue.language.print import show, show_meaning
from ensue.rules import BYTE_ORDER_MARK, Rules


def with_statements(program: Rules, statements: str) -> Rules:
    """The program with more statements."""
    if not isinstance(statements, str):
        raise TypeError(f"statements are a text, not {type(statements).__name__}")
    return program.rewritten(
        f"{program.file.source.text.rstrip()}\n{statements.removeprefix(BYTE_ORDER_MARK).strip()}\n"
    )


def without_rule(program: Rules, name: str) -> Rules:
    """The program without the rule of a name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a rule is a text, not {type(name).__name__}")
    rules = [s for s in program.file.statements if isinstance(s, syntax.EventRule | syntax.StaticRule)]
    named = {rule.label.text: rule for rule in rules if rule.label is not None}
    if name not in named:
        nameless = [rule for rule in rules if rule.head.name.text == name and rule.label is None]
        if nameless:
            have = "The rules for {0!r} have no names" if len(nameless) > 1 else "The rule for {0!r} has no name"
            arrow = ":-" if isinstance(nameless[0], syntax.StaticRule) else "<-"
            example = f"`rule {name}: {show(nameless[0].head)} {arrow} ….`"
            raise DataError(f"{have.format(name)}; `remove` needs one. Write a name in front of a rule: {example}")
        raise DataError(f"No rule is called {name!r}; there is {listed(named)}.{did_you_mean(name, named)}")
    text, span = program.file.source.text, named[name].span
    return program.rewritten(f"{text[: span.start].rstrip()}\n{text[span.end :].lstrip()}\n")


def rules_of(file: syntax.File) -> list[str]:
    """The event rules as they are written, in the order in which the typed program has them."""
    return [show_meaning(statement) for statement in file.statements if isinstance(statement, syntax.EventRule)]
