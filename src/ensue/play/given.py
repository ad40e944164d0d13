"""The events of a test as JSON lines, so that they can be looked at and changed."""

from __future__ import annotations

from typing import Any

from ensue.data.errors import DataError
from ensue.data.json_text import to_json
from ensue.language import syntax, typed
from ensue.language.print import show
from ensue.language.semantics import as_text
from ensue.program import Program


def events_of_test(program: Program, title: str | None = None) -> dict[str, Any]:
    """Events, parameters and the end of time of a test; without a title of the first that expects an event.

    >>> import ensue
    >>> program = ensue.compile('event a(x: int).  b(x) <- a(x).  test "one" given a(1) @ 3 expect b(1) @ 3.')
    >>> events_of_test(program)
    {'test': 'one', 'events': '{"type": "a", "time": 3, "x": 1}\\n', 'until': '', 'params': {}}
    """
    tests = program.typed.tests
    if title is None:
        test = next((test for test in tests if any(test.expect.values())), tests[0] if tests else None)
    else:
        test = next((test for test in tests if test.title == title), None)
    if test is None:
        if title is None:
            return {"test": None, "events": "", "until": "", "params": {}}
        raise DataError(f"The rules have no test {title!r}.")
    lines = [to_json(_row(program, test, occurrence)) for occurrence in test.given]
    return {
        "test": test.title,
        "events": "".join(f"{line}\n" for line in lines),
        "until": "" if test.until is None else str(_time(test.until, test)),
        "params": {name: _text(value) for name, value in test.settings.items()},
    }


def _row(program: Program, test: typed.Test, occurrence: typed.Occurrence) -> dict[str, Any]:
    types = program.typed.events[occurrence.event].attributes
    start, end = _time(occurrence.start, test), _time(occurrence.end, test)
    times = {"time": start} if start == end else {"start": start, "end": end}
    attributes = {
        name: as_text(value, timestamp=True) if types.get(name) == "timestamp" and isinstance(value, int) else value
        for name, value in occurrence.attributes.items()
    }
    return {"type": occurrence.event, **times, **attributes}


def _time(value: int, test: typed.Test) -> int | str:
    return as_text(value, timestamp=True) if test.timestamps else value


def _text(value: syntax.Expression) -> str:
    """A value of a parameter as a command line has it."""
    return str(value.value) if isinstance(value, syntax.Literal) else show(value)
