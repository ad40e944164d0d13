"""Errors for names that mean nothing where they stand: a variable without a value, an event that was not matched."""

from __future__ import annotations

from ensue.language import syntax
from ensue.language.aggregates import AGGREGATES
from ensue.language.check.declarations import Declarations
from ensue.language.check.scope import Scope
from ensue.language.diagnostics import did_you_mean


class Names:
    """Names of one rule, and those that an error has been reported for."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.report = declarations.report
        self.incomplete = False
        """True if a part of the rule was rejected: names may be missing only for that reason."""
        self.absent: set[str] = set()
        """Names that are bound under `not` only."""
        self.attributes: dict[str, tuple[str, str]] = {}
        """Attributes that are bound to variables of other names: the event, and the variable."""
        self.labelled: set[str] = set()
        """Names that the rule gives to patterns, wherever they stand."""
        self.written: set[str] = set()
        """Variables and names that stand anywhere in the rule."""
        self.head_terms: dict[str, str] = {}
        """Terms that only the head names, as they are written: `n` of ``tries(n = count(f))``."""
        self._told: set[str] = set()

    def begin(self) -> None:
        """Begins another rule."""
        self.incomplete = False
        self.absent, self._told = set(), set()
        self.attributes = {}
        self.labelled = set()
        self.written = set()
        self.head_terms = {}

    def is_news(self, name: str) -> bool:
        """True the first time it is called with a name, so that a wrong name is reported once for each rule."""
        if name in self._told:
            return False
        self._told.add(name)
        return True

    def report_unbound(self, node: syntax.Name, scope: Scope) -> None:
        """Reports why a variable has no value here."""
        name = node.text
        if not self.is_news(name):
            return
        if scope.find_label(name) is not None:
            self.report.error(
                "E105", node.span, f"`{name}` is an event, not a value",
                f"name an attribute, `{name}.attribute`, or a time, `{name}.start`",
            )  # fmt: skip
        elif self.incomplete:
            pass
        elif name in scope.partial:
            self.report.error(
                "E302", node.span, f"`{name}` is not bound on every side of the `or`",
                "bind it on each side, or leave it out here",
            )  # fmt: skip
        elif name in scope.all_gathered():
            self.report.error(
                "E301", node.span, f"`{name}` belongs to collected events and has many values",
                f"use it in an aggregate, as in `max({name})`; to leave some out, filter inside: `collect (p where …)`",
            )  # fmt: skip
        elif name in self.absent:
            self.report.error(
                "E105", node.span, f"`{name}` stands only under `not`, and has no value here",
                "what is absent gives no values; bind it in another item of the body",
            )  # fmt: skip
        elif name in self.written:
            self.report.error(
                "E105", node.span, f"`{name}` has no value inside these parentheses",
                f"bind `{name}` inside them too, or put the condition outside",
            )  # fmt: skip
        else:
            self.report.error("E105", node.span, f"the variable `{name}` is never bound", self._meant(name, scope))

    def _meant(self, name: str, scope: Scope) -> str:
        """Hint for a variable that is never bound: the probable intention."""
        if name in self.head_terms:
            return f"only the head has this name; name the value in the body: `…, {name} = {self.head_terms[name]}, …`"
        if name in self.attributes:
            event, variable = self.attributes[name]
            return f"the attribute `{name}` of `{event}` is called `{variable}` in this rule"
        if self.declarations.signature(name) is not None or name in AGGREGATES:
            return f"it is a function: write `{name}(…)`"
        if name in self.declarations.predicates:
            return f"it is a table: write `{name}(…)`"
        return did_you_mean(name, scope.names()) or f"use it as an argument in the body, as in `order(id, {name})`"

    def report_no_event(self, node: syntax.Name, scope: Scope, instead: str, example: str = "order(id)") -> None:
        """Reports why a name stands for no matched event here; `instead` is the hint for collected ones."""
        name = node.text
        if self.incomplete or not self.is_news(name):
            return
        if name in scope.all_gathered():
            self.report.error("E301", node.span, f"`{name}` stands for many collected events", instead)
        elif name in scope.partial:
            self.report.error(
                "E302", node.span, f"`{name}` is not bound on every side of the `or`",
                "name a pattern on each side, or leave it out here",
            )  # fmt: skip
        elif name in self.absent:
            self.report.error(
                "E104", node.span, f"`{name}` stands only under `not`, and there is no such event",
                "relate what is absent inside the negation: `not (…)`",
            )  # fmt: skip
        elif scope.find_variable(name) is not None:
            self.report.error(
                "E104", node.span, f"`{name}` is a value, not a matched event",
                f"name the event, as in `o: order(id, {name})`",
            )  # fmt: skip
        elif name in self.declarations.events:
            self.report.error(
                "E104", node.span, f"`{name}` is a type of event, not the name of a matched one",
                f"name the one that you mean, as in `{name[0]}: {name}(…)`, and write `{name[0]}` here",
            )  # fmt: skip
        elif name in self.labelled:
            self.report.error(
                "E104", node.span, f"`{name}` is named outside these parentheses, and not known inside them",
                "relate the two outside, or leave the parentheses out",
            )  # fmt: skip
        else:
            hint = did_you_mean(name, scope.names()) or f"name something in the body with it, as in `{name}: {example}`"
            self.report.error("E104", node.span, f"there is no matched event called `{name}`", hint)
