"""An answer as text for a terminal: timelines, narrow enough for most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from ensue.reasons.answer import Answer, Attempt, Derivation, Detected, Line, Missing, Stop, Tried

WIDTH = 100


def text_of(why: Answer) -> str:
    """The whole answer."""
    lines: list[str] = []
    if why.found:
        for each in why.found:
            lines += [*_detected(each, ""), ""]
        if why.more:
            lines += [f"… and {why.more:,} more; give more attributes, or `at`, to see others", ""]
    elif why.missing is not None:
        lines += [f"There is no {why.question}.", *_missing(why.missing, "", heading=False), ""]
    for note in why.notes:
        lines += _wrapped(note, "", "  ")
    return "\n".join(lines).rstrip()


def _detected(found: Detected, indent: str) -> Iterator[str]:
    yield from _wrapped(f"{found.event.text} @ {_when(found.event.start, found.event.end)}", indent, indent + "    ")
    for place, derivation in enumerate(found.derivations):
        if place:
            yield f"{indent}  also"
        yield from _derivation(derivation, indent + "  ")
    if found.more > 0:
        yield f"{indent}  … and {found.more:,} more matches derive it"
    elif found.more < 0 and indent:
        yield f"{indent}  … derived in turn, which is not followed any further"
    elif found.more < 0:
        yield f"{indent}  There are too many events of its key to follow it; `provenance` gives its rows."


def _derivation(derivation: Derivation, indent: str) -> Iterator[str]:
    yield f"{indent}{derivation.rule}"
    yield from _timeline(derivation.lines, indent + "  ")


def _timeline(lines: Sequence[Line], indent: str) -> Iterator[str]:
    times = ["" if line.start is None or line.end is None else _when(line.start, line.end) for line in lines]
    width = max(map(len, times), default=0)
    for time, line in zip(times, lines, strict=True):
        first = f"{indent}{time.rjust(width)}  {_SIGNS.get(line.kind, ' ')} "
        nested = line.text.startswith("  ")
        yield from _wrapped(line.text.strip(), first + ("  " if nested else ""), " " * (len(first) + 2 + 2 * nested))
        for inner in line.inner:
            below = indent + " " * 4
            if inner.derivations:
                for derivation in inner.derivations:
                    yield from _derivation(derivation, below)
            elif inner.more < 0:
                yield f"{below}… derived in turn, which is not followed any further"


_SIGNS = {
    "event": "•",
    "collected": "•",
    "timer": "┄",
    "window": "┄",
    "absent": "∅",
    "row": "▫",
    "condition": "✓",
    "time": "✓",
}


def _missing(missing: Missing, indent: str, heading: bool = True) -> Iterator[str]:
    if heading:
        yield from _wrapped(f"no {missing.text}, because", indent, indent + "  ")
    for tried in missing.rules:
        yield from _tried(tried, indent + "  ")
    for note in missing.notes:
        yield from _wrapped(note, indent + "  ", indent + "    ")


def _tried(tried: Tried, indent: str) -> Iterator[str]:
    yield f"{indent}{tried.rule}"
    for attempt in tried.attempts:
        yield from _attempt(attempt, indent + "  ")
    if tried.more:
        yield f"{indent}  … and {tried.more:,} more attempts"
    if tried.limited:
        yield f"{indent}  There was too much to try: these are the nearest of what was looked at."


def _attempt(attempt: Attempt, indent: str) -> Iterator[str]:
    """Write the reasons why it stopped, the matched events, and below that why an event is missing or was there."""
    for stop in attempt.stops:
        yield from _wrapped(stop.text, f"{indent}✗ ", indent + "    ")
    yield from _timeline(attempt.lines, indent + "  ")
    for stop in attempt.stops:
        yield from _below(stop, indent + "  ")


def _below(stop: Stop, indent: str) -> Iterator[str]:
    for inner in stop.inner:
        if isinstance(inner, Missing):
            yield from _missing(inner, indent)
        else:
            yield from _detected(inner, indent)


def _when(start: object, end: object) -> str:
    """A moment, or an interval; the date is not repeated.

    >>> _when(3, 3), _when(3, 9), _when("2026-03-01T08:00:00Z", "2026-03-01T14:00:00Z")
    ('3', '3 – 9', '2026-03-01T08:00:00Z – 14:00:00Z')
    """
    one, other = str(start), str(end)
    if one == other:
        return one
    if len(one) > 11 and len(other) > 11 and one[:11] == other[:11]:
        other = other[11:]
    return f"{one} – {other}"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return wrap(
        text, max(WIDTH, len(first) + 40), initial_indent=first, subsequent_indent=rest, break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]  # fmt: skip
