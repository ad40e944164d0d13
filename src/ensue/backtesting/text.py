"""A backtest as text: a line of bars for each rule, its keys and samples, and the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.backtesting.buckets import describe_time
from ensue.backtesting.result import Keys, Result, RuleResult, Sample, TypeChange
from ensue.data.json_text import to_json

BARS = "▁▂▃▄▅▆▇█"
NONE = " "


def bars(counts: Sequence[int], width: int) -> str:
    """Numbers as bars, one character each; if there is not enough room they are added up in groups.

    >>> bars([0, 1, 4, 8], 10), bars([1, 1, 2, 2], 2)
    (' ▁▄█', '▄█')
    """
    size = -(-len(counts) // max(1, width)) or 1
    sums = [sum(counts[at : at + size]) for at in range(0, len(counts), size)]
    most = max(sums, default=0)
    return "".join(NONE if not number else BARS[max(0, -(-number * len(BARS) // most) - 1)] for number in sums)


def describe_seconds(seconds: float) -> str:
    """
    >>> describe_seconds(0.0123), describe_seconds(75.4)
    ('12 ms', '75.4 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def written(backtest: Result, width: int) -> str:
    lines = [describe_head(backtest), ""]
    for rule in backtest.rules:
        lines += [*_rule(rule, backtest, width), ""]
    if not backtest.rules:
        lines += ["There are no rules for events.", ""]
    if backtest.against_name is not None:
        lines.append(f"Against {backtest.against_name}")
        for change in backtest.changes:
            lines += _change(change, width)
    return "\n".join(lines).rstrip("\n")


def describe_head(backtest: Result) -> str:
    """Number of events and the time that they span, in words."""
    if backtest.first is None or backtest.last is None:
        return f"{backtest.events:,} events"
    timestamps = backtest.buckets.timestamps
    first, last = describe_time(backtest.first, timestamps), describe_time(backtest.last, timestamps)
    by = backtest.buckets.by
    return (
        f"{backtest.events:,} events from {first} to {last}, {len(backtest.buckets):,} spans of {by}; "
        f"all rules together took {describe_seconds(backtest.seconds)}"
    )


def describe_cost(rule: RuleResult) -> list[str]:
    """Phrases on a rule's cost, and on the events that it suppressed."""
    found = []
    if rule.seconds is not None:
        found.append(f"took {describe_seconds(rule.seconds)}")
    if rule.kept is not None:
        found.append(f"kept {rule.kept:,} at most")
    if rule.suppressed is not None:
        found.append(f"{rule.suppressed:,} not kept because of `once` or `at most`")
    return found


def _rule(rule: RuleResult, backtest: Result, width: int) -> Iterator[str]:
    name = rule.name if rule.name == rule.event else f"{rule.name}: {rule.event}"
    yield f"{name} (line {rule.line}){f', {rule.title}' if rule.title else ''}"
    yield f"  {', '.join([f'{rule.found:,} found', *describe_cost(rule)])}"
    if rule.found:
        yield f"  │{bars(rule.counts, width - 30)}│ up to {max(rule.counts):,} in a span of {backtest.buckets.by}"
    if rule.keys is not None:
        yield f"  {describe_keys(rule.keys)}"
    yield from _samples(rule.samples, "  ")


def describe_keys(keys: Keys) -> str:
    """The values that most detections have."""
    if keys.most[0][1] == 1:
        return f"each {keys.attribute} once"
    most = ", ".join(f"{value} ({count:,})" for value, count in keys.most)
    rest = keys.different - len(keys.most)
    return f"most by {keys.attribute}: {most}{f', and {rest:,} others' if rest else ''}"


def describe_change(change: TypeChange) -> str:
    """Numbers of detections that are as before, new, and gone, in words."""
    moved = f" ({change.moved:,} of them alike at other times)" if change.moved else ""
    return f"{change.same:,} as before, {change.new:,} new, {change.gone:,} no longer{moved}"


def _samples(samples: Sequence[Sample], indent: str) -> Iterator[str]:
    for sample in samples:
        yield indent + to_json(sample)


def _change(change: TypeChange, width: int) -> Iterator[str]:
    yield f"  {change.event}: {describe_change(change)}"
    if change.ignored:
        yield f"    not compared, as only one of the two has it: {', '.join(change.ignored)}"
    for sign, counts, samples in (
        ("+", change.new_counts, change.new_samples),
        ("-", change.gone_counts, change.gone_samples),
    ):
        if samples:
            yield f"    {sign} │{bars(counts, width - 30)}│"
        yield from (f"    {sign} {line}" for line in _samples(samples, ""))
