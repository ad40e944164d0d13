"""A backtest as a page of HTML that needs nothing else. Everything that comes from rules or data is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ensue.backtesting.result import Result, RuleResult, Sample, TypeChange
from ensue.backtesting.text import describe_change, describe_cost, describe_head, describe_keys
from ensue.data.json_text import to_json

WIDTH, HEIGHT = 720, 60
"""Of a chart, in the units of its picture."""

_STYLE = """
.ensue-backtest { font: 14px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }
.ensue-backtest h2 { font-size: 1.1rem; margin: 1.5rem 0 0.2rem; }
.ensue-backtest pre { overflow-x: auto; background: #8881; padding: 0.5rem; margin: 0.3rem 0; font-size: 12px; }
.ensue-backtest svg { width: 100%; height: 60px; background: #8881; }
.ensue-backtest svg .all { fill: #37c; }
.ensue-backtest svg .new { fill: #283; }
.ensue-backtest svg .gone { fill: #c33; }
.ensue-backtest .note { color: #777; }
"""


def page(backtest: Result) -> str:
    """The whole page."""
    title = escape(f"Result of {backtest.rules_name}")
    head = f'<meta charset="utf-8"><title>{title}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{content(backtest)}\n</body></html>\n'


def content(backtest: Result) -> str:
    """The body of the page, for a place inside another page."""
    return "\n".join(
        [
            f'<div class="ensue-backtest"><style>{_STYLE}</style>',
            f"<h1>{escape(backtest.rules_name)}</h1><p>{escape(describe_head(backtest))}</p>",
            *(part for rule in backtest.rules for part in _rule(rule, backtest)),
            *_changes(backtest),
            "</div>",
        ]
    )


def _rule(rule: RuleResult, backtest: Result) -> Iterator[str]:
    name = rule.name if rule.name == rule.event else f"{rule.name}: {rule.event}"
    yield f'<h2>{escape(name)} <span class="note">line {rule.line}</span></h2>'
    if rule.title:
        yield f"<p>{escape(rule.title)}</p>"
    yield f"<p>{escape(', '.join([f'{rule.found:,} found', *describe_cost(rule)]))}</p>"
    if rule.found:
        yield _chart(rule.counts, backtest, "all")
    if rule.keys is not None:
        yield f"<p>{escape(describe_keys(rule.keys))}</p>"
    yield from _samples(rule.samples)


def _changes(backtest: Result) -> Iterator[str]:
    if backtest.against_name is None:
        return
    yield f"<h1>Against {escape(backtest.against_name)}</h1>"
    for change in backtest.changes:
        yield from _change(change, backtest)


def _change(change: TypeChange, backtest: Result) -> Iterator[str]:
    yield f"<h2>{escape(change.event)}</h2>"
    yield f"<p>{escape(describe_change(change))}</p>"
    if change.ignored:
        note = f"not compared, as only one of the two has it: {', '.join(change.ignored)}"
        yield f'<p class="note">{escape(note)}</p>'
    for word, kind, counts, samples in (
        ("new", "new", change.new_counts, change.new_samples),
        ("no longer", "gone", change.gone_counts, change.gone_samples),
    ):
        if samples:
            yield f"<p>{word}</p>{_chart(counts, backtest, kind)}"
        yield from _samples(samples)


def _chart(counts: Sequence[int], backtest: Result, kind: str) -> str:
    """A bar for each span that has something, with its beginning and its number when one points at it."""
    step, most = WIDTH / max(1, len(counts)), max(counts, default=0)
    bars = []
    for number, (start, count) in enumerate(zip(backtest.buckets.starts, counts, strict=True)):
        if count:
            height = max(1.0, HEIGHT * count / most)
            title = f"<title>{escape(str(start))}: {count:,}</title>"
            place = f'x="{number * step:.2f}" y="{HEIGHT - height:.2f}"'
            size = f'width="{max(0.5, step * 0.9):.2f}" height="{height:.2f}"'
            bars.append(f'<rect class="{kind}" {place} {size}>{title}</rect>')
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"'
    return f'<svg {box} role="img" aria-label="detections by time">{"".join(bars)}</svg>'


def _samples(samples: Sequence[Sample]) -> Iterator[str]:
    if samples:
        lines = "\n".join(map(to_json, samples))
        yield f"<pre>{escape(lines)}</pre>"
