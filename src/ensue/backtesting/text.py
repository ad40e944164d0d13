"""A backtest as text: a line of bars for each rule, its keys and samples, and what changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.backtesting.buckets import said
from ensue.backtesting.result import Backtest, Keys, RuleResult, Sample, TypeChange
from ensue.data.json_text import to_json

BARS = "▁▂▃▄▅▆▇█"
NONE = " "


def bars(counts: Sequence[int], width: int) -> str:
    """Numbers as bars, one character each; so many that there is no room for are added up in groups.

    >>> bars([0, 1, 4, 8], 10), bars([1, 1, 2, 2], 2)
    (' ▁▄█', '▄█')
    """
    size = -(-len(counts) // max(1, width)) or 1
    sums = [sum(counts[at : at + size]) for at in range(0, len(counts), size)]
    most = max(sums, default=0)
    return "".join(NONE if not number else BARS[max(0, -(-number * len(BARS) // most) - 1)] for number in sums)


def seconds_said(seconds: float) -> str:
    """
    >>> seconds_said(0.0123), seconds_said(75.4)
    ('12 ms', '75.4 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def written(backtest: Backtest, width: int) -> str:
    lines = [head_said(backtest), ""]
    for rule in backtest.rules:
        lines += [*_rule(rule, backtest, width), ""]
    if not backtest.rules:
        lines += ["There are no rules for events.", ""]
    if backtest.against_name is not None:
        lines.append(f"Against {backtest.against_name}")
        for change in backtest.changes:
            lines += _change(change, width)
    return "\n".join(lines).rstrip("\n")


def head_said(backtest: Backtest) -> str:
    """How many events there were, and over which time."""
    if backtest.first is None or backtest.last is None:
        return f"{backtest.events:,} events"
    timestamps = backtest.buckets.timestamps
    first, last = said(backtest.first, timestamps), said(backtest.last, timestamps)
    by = backtest.buckets.by
    return (
        f"{backtest.events:,} events from {first} to {last}, {len(backtest.buckets):,} spans of {by}; "
        f"all rules together took {seconds_said(backtest.seconds)}"
    )


def cost_said(rule: RuleResult) -> list[str]:
    """Tell what is known of a rule's cost and of what it left out."""
    found = []
    if rule.seconds is not None:
        found.append(f"took {seconds_said(rule.seconds)}")
    if rule.kept is not None:
        found.append(f"kept {rule.kept:,} at most")
    if rule.suppressed is not None:
        found.append(f"{rule.suppressed:,} not kept because of `once` or `at most`")
    return found


def _rule(rule: RuleResult, backtest: Backtest, width: int) -> Iterator[str]:
    name = rule.name if rule.name == rule.event else f"{rule.name}: {rule.event}"
    yield f"{name} (line {rule.line}){f', {rule.title}' if rule.title else ''}"
    yield f"  {', '.join([f'{rule.found:,} found', *cost_said(rule)])}"
    if rule.found:
        yield f"  │{bars(rule.counts, width - 30)}│ up to {max(rule.counts):,} in a span of {backtest.buckets.by}"
    if rule.keys is not None:
        yield f"  {keys_said(rule.keys)}"
    yield from _samples(rule.samples, "  ")


def keys_said(keys: Keys) -> str:
    """The values that most detections have."""
    if keys.most[0][1] == 1:
        return f"each {keys.attribute} once"
    most = ", ".join(f"{value} ({count:,})" for value, count in keys.most)
    rest = keys.different - len(keys.most)
    return f"most by {keys.attribute}: {most}{f', and {rest:,} others' if rest else ''}"


def changed_said(change: TypeChange) -> str:
    """How many detections are as before, are new, and are no longer there."""
    moved = f" ({change.moved:,} of them alike at other times)" if change.moved else ""
    return f"{change.same:,} as before, {change.new:,} new, {change.gone:,} no longer{moved}"


def _samples(samples: Sequence[Sample], indent: str) -> Iterator[str]:
    for sample in samples:
        yield indent + to_json(sample)


def _change(change: TypeChange, width: int) -> Iterator[str]:
    yield f"  {change.event}: {changed_said(change)}"
    if change.ignored:
        yield f"    not compared, as only one of the two has it: {', '.join(change.ignored)}"
    for sign, counts, samples in (
        ("+", change.new_counts, change.new_samples),
        ("-", change.gone_counts, change.gone_samples),
    ):
        if samples:
            yield f"    {sign} │{bars(counts, width - 30)}│"
        yield from (f"    {sign} {line}" for line in _samples(samples, ""))
