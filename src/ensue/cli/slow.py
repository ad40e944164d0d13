"""Report once, while it happens, what makes rules slow: compilation, calls of Python, and pairs without a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from ensue.cli.output import say

if TYPE_CHECKING:
    from ensue.engine.watching import Work
    from ensue.rules import Rules

PATIENCE = 2.0
"""Seconds that something may take before it is reported."""

MOST_NAMED = 3
"""Largest number of rules that are named in a sentence."""


class Slowness:
    """Adds up times, and reports what has taken long: a sentence for each cause, once."""

    def __init__(self, rules: Rules, tell: Callable[[str], object] = say) -> None:
        self.rules = rules
        self.tell = tell
        self.seconds: dict[tuple[Work, tuple[str, ...], str | None], float] = {}
        self.shown: set[tuple[Work, tuple[str, ...], str | None]] = set()
        self._lock = Lock()

    def spent(self, work: Work, names: Sequence[str], seconds: float, on: str | None = None) -> None:
        """Notes that rules, by their names, took time."""
        key = (work, tuple(names), on)
        with self._lock:  # rules may run in several threads
            self.seconds[key] = self.seconds.get(key, 0.0) + seconds
            if self.seconds[key] < PATIENCE or key in self.shown:
                return
            self.shown.add(key)
        for sentence in self._sentences(*key):
            self.tell(sentence)

    def _sentences(self, work: Work, names: tuple[str, ...], on: str | None) -> Iterator[str]:
        which, seconds = self._named(names), f"{self.seconds[work, names, on]:.1f} s"
        match work:
            case "compiling":
                yield f"Compiling {which} took {seconds}. The code is kept, so the next run starts faster."
            case "asking" if on in self.rules.typed.predicates:
                yield (
                    f"{which}: static rules prove `{on}`, which has taken {seconds} so far. Each combination of "
                    "values is proved once. Use fewer combinations, by conditions on events in an earlier rule, or "
                    "pass the result as a table."
                )
            case "asking":
                yield (
                    f"{which}: `{on}` is computed in Python, which has taken {seconds} so far. It is computed once for "
                    "each combination of values. Let an earlier rule drop events that cannot match, or add the value "
                    "to the events."
                )
            case "running":
                for name, cost in self._pairs(names):
                    yield (
                        f"{self._named((name,))} looks at very many pairs ({cost}), and has taken {seconds} so far. "
                        "Let its events share a variable, or bound the time between them with `within`."
                    )

    def _named(self, names: Sequence[str]) -> str:
        """Rules by their names and lines; not all of many."""
        source, lines = self.rules.file.source, dict[str, int]()
        for rule in reversed(self.rules.typed.rules):
            lines[rule.label or rule.event] = source.position(rule.span.start)[0]
        shown = [f"{name} (line {lines[name]})" if name in lines else name for name in names[:MOST_NAMED]]
        rest = len(names) - len(shown)
        return ", ".join(shown) + (f" and {rest} other{'s' if rest > 1 else ''}" if rest else "") or "the rules"

    def _pairs(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The rules that pair events without a variable in common, with the plan's description of that."""
        from ensue.plan.advice import describe_rule

        program = self.rules.typed
        for rule in program.rules:
            name = rule.label or rule.event
            if name in names:
                costs = [part.cost for part in describe_rule(rule, program).walk() if "every " in part.cost]
                if costs:
                    yield name, costs[0]
