"""Times for a watcher: compiling a unit of code, running it, and each call to Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ensue.engine.assembly import Generated
from ensue.engine.generate.unit import Question
from ensue.engine.structure import Structure
from ensue.engine.structures.answers import Answers, Facts
from ensue.engine.structures.by_text import OfText
from ensue.engine.structures.values import Values
from ensue.engine.watching import Work, watched
from ensue.language import typed
from ensue.plan.description import Phrases
from ensue.plan.late import ROW

Ask = Callable[[Any, int], int]


class Stopwatch:
    """The stopwatch of one unit. Without a watcher it costs nothing."""

    def __init__(self, program: typed.Program, code: Generated, names: Mapping[int, str]) -> None:
        self.program, self.code, self.names = program, code, names
        self.watcher = watched()
        self._told: dict[int, tuple[tuple[str, ...], str | None]] = {}

    def now(self) -> float:
        return 0.0 if self.watcher is None else self.watcher.clock()

    def spent(self, work: Work, begun: float) -> None:
        """Report the time that all rules of the unit took since `begun`."""
        if self.watcher is not None:
            titles = dict.fromkeys(part.title for part in self.code.together.parts if part.title is not None)
            self.watcher.spent(work, tuple(titles), self.now() - begun)

    def timed(self, ask: Ask) -> Ask:
        """A function that answers code, and also reports its time."""
        watcher = self.watcher
        if watcher is None:
            return ask

        def asked(structure: Structure, number: int) -> int:
            if isinstance(structure, Values | Facts):
                return ask(structure, number)
            begun = watcher.clock()
            found = ask(structure, number)
            if structure.base not in self._told:
                self._told[structure.base] = self._asking(structure)
            rules, on = self._told[structure.base]
            if on is not None:
                watcher.spent("asking", rules, watcher.clock() - begun, on)
            return found

        return asked

    def _asking(self, structure: Structure) -> tuple[tuple[str, ...], str | None]:
        """The rules that call Python, and the subject of the call; None where it is not theirs."""
        name = self.names[structure.base]
        question: Any = self.code.unit.questions.get(name)
        match question:
            case _ if isinstance(structure, Answers):
                return self._owners(name), structure.lookup.predicate
            case Question(expression=typed.Holds(predicate=predicate)):
                return self._owners(name), predicate
            case Question(expression=asked) | OfText(operation=asked):
                if isinstance(asked, typed.Operation) and (asked.name == ROW or asked.name.startswith("as ")):
                    return (), None  # only a conversion of a value
                (on,) = Phrases(self.program).conditions([asked])
                return self._owners(name), on
            case _:
                return (), None

    def _owners(self, name: str) -> tuple[str, ...]:
        """The names of the rules that own a structure; all of the unit where that is unknown."""
        together, owner = self.code.together, self.code.unit.structures[name].owner
        users = {user for part in together.common if part.name == owner for user in part.users}
        own = [part.title for part in together.parts if part.name in {owner, *users}]
        titles = own or [part.title for part in together.parts]
        return tuple(dict.fromkeys(title for title in titles if title is not None))
