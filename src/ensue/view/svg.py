"""A scene as one SVG: a picture that needs no script, for documents, reports and messages.

It looks as the page does: detections above the events that they came from, a lane for each type or for each value of
an attribute. All detections have lines to their sources where there are few of them. Colours are those of `page.css`,
light or dark as the reader prefers; text is measured by its letters, since no font is known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ensue.view.axis import ticks_of
from ensue.view.choose import at_most
from ensue.view.drawing import Bar, Drawing, Lane, drawing_of
from ensue.view.scene import Scene

AXIS = 26
HEADING = 20
NOTE = 20
PADDING = 6
LEAST_LANE = 30
EDGE = 14
"""Room on the left and right of all of time, so that marks at its ends are whole."""
LABEL, SMALL = 12, 11
"""Sizes of text."""
COLOURS = 8
LEAST_BAR = 3
"""Width of the narrowest interval that is drawn as a bar."""
MOST_MARKS = 500
"""Events and detections of a picture; of more than that an even share is drawn, and the picture says so."""
MOST_LINES = 200
"""Lines from detections to their sources; where there are more, none is drawn."""
UNWANTED = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot hold, and invisible control characters."""


def svg(scene: Scene, title: str, lanes: str = "type", width: int = 760) -> str:
    """Draw a scene as an SVG of this width; its height follows from its lanes."""
    scene = at_most(scene, MOST_MARKS)
    drawing = drawing_of(scene, lanes)
    gutter = _gutter(drawing, width)
    tops, bottom = _places(drawing)
    height = bottom + NOTE * len(scene.notes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label={quoteattr(_clean(title))}>',
        f"<title>{escape(_clean(title))}</title>",
        f"<style>{_style()}</style>",
        f'<rect class="surface" width="{width}" height="{height}" rx="6"/>',
        *_axis(scene, gutter, width, bottom),
        *_notes(scene, bottom, width),
    ]
    places: dict[tuple[int, int], tuple[float, float, float]] = {}
    for lane, top in zip(drawing.lanes, tops, strict=True):
        parts.extend(_lane(lane, top, gutter, width))
        for bar, y in _bars(lane, top):
            left, right = (_x(scene, time, gutter, width) for time in (bar.start, bar.end))
            places[bar.track, bar.number] = left, right, y
    parts.extend(_links(drawing, places))
    for lane, top in zip(drawing.lanes, tops, strict=True):
        parts.extend(_marks(lane, top, places, width))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _gutter(drawing: Drawing, width: int) -> int:
    widest = max((_wide(lane.label, LABEL) for lane in drawing.lanes if not lane.heading), default=0.0)
    return round(min(widest + 40, width * 0.3))


def _places(drawing: Drawing) -> tuple[list[int], int]:
    """The top of each lane, and the height of all."""
    tops, y = [], AXIS
    for lane in drawing.lanes:
        tops.append(y)
        y += _height(lane)
    return tops, y + 2


def _height(lane: Lane) -> int:
    if lane.heading:
        return HEADING
    return max(sum(band.rows * band.row_height for band in lane.bands) + 2 * PADDING, LEAST_LANE)


def _bars(lane: Lane, top: int) -> Iterator[tuple[Bar, float]]:
    """The bars of a lane, with the middle of each."""
    used = sum(band.rows * band.row_height for band in lane.bands)
    y = top + (_height(lane) - used) / 2
    for band in lane.bands:
        for bar in band.bars:
            yield bar, y + (bar.row + 0.5) * band.row_height
        y += band.rows * band.row_height


def _axis(scene: Scene, gutter: int, width: int, height: int) -> Iterator[str]:
    last = scene.span[1]
    note, ticks = ticks_of(scene, max(2, (width - gutter) // 90))
    if note:
        yield f'<text class="soft" x="10" y="17" font-size="{SMALL}">{escape(note)}</text>'
    for time, text in ticks:
        x = _x(scene, time, gutter, width)
        yield f'<path class="line" d="M{x:.1f} {AXIS}V{height}"/>'
        if time <= last and x + _wide(text, SMALL) / 2 < width:
            yield f'<text class="soft" x="{x:.1f}" y="17" font-size="{SMALL}" text-anchor="middle">{text}</text>'
    yield f'<path class="line" d="M0 {AXIS}H{width}"/>'


def _notes(scene: Scene, top: int, width: int) -> Iterator[str]:
    for number, note in enumerate(scene.notes):
        text = escape(_clean(_shortened(note, width - 20, SMALL)))
        yield f'<text class="soft" x="10" y="{top + NOTE * number + 13}" font-size="{SMALL}">{text}</text>'


def _lane(lane: Lane, top: int, gutter: int, width: int) -> Iterator[str]:
    bottom = top + _height(lane)
    middle = (top + bottom) / 2
    if lane.heading:
        yield f'<rect class="raised" y="{top}" width="{width}" height="{HEADING}"/>'
        yield f'<text class="soft" x="10" y="{middle + 3.5:.1f}" font-size="10" font-weight="600">{lane.label}</text>'
        return
    yield f'<path class="line" d="M0 {bottom}H{width}"/>'
    left = 10
    if lane.colour is not None:
        yield _chip(lane.colour, 15, middle)
        left = 26
    text = escape(_clean(_shortened(lane.label, gutter - left - 4, LABEL)))
    yield f'<text class="ink" x="{left}" y="{middle + 4:.1f}" font-size="{LABEL}" font-weight="600">{text}</text>'


def _chip(colour: tuple[bool, int], x: float, y: float) -> str:
    if colour[0]:
        return f'<rect class="{_colour(colour)}" x="{x - 5:.1f}" y="{y - 4:.1f}" width="10" height="8" rx="2"/>'
    return f'<circle class="{_colour(colour)}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'


def _colour(colour: tuple[bool, int]) -> str:
    return f"{'found' if colour[0] else 'given'}-{colour[1] % COLOURS + 1}"


def _links(drawing: Drawing, places: dict[tuple[int, int], tuple[float, float, float]]) -> Iterator[str]:
    """Lines from detections down to their sources, in the colours of these."""
    if len(drawing.links) > MOST_LINES:
        return
    for found, given, colour in drawing.links:
        left, right, top = places[found]
        x = sum(places[given][:2]) / 2
        bottom = places[given][2] - 6
        at = min(max(x, left), right)
        bend = (top + 7 + bottom) / 2
        yield (
            f'<path class="link {_colour(colour)}" d="M{at:.1f} {top + 7:.1f}C{at:.1f} {bend:.1f} {x:.1f} {bend:.1f} '
            f'{x:.1f} {bottom:.1f}"/>'
        )


def _marks(
    lane: Lane, top: int, places: dict[tuple[int, int], tuple[float, float, float]], width: int
) -> Iterator[str]:
    bars = [(bar, *places[bar.track, bar.number]) for bar, _ in _bars(lane, top)]
    for bar, left, right, y in bars:
        name, tip = _colour(bar.colour), f"<title>{escape(_clean(bar.tip))}</title>"
        if right - left >= LEAST_BAR:
            wide, tall = right - left, f'y="{y - 8:.1f}" height="16"'
            yield (
                f'<g>{tip}<rect class="bar {name}" x="{left:.1f}" {tall} width="{wide:.1f}" rx="4"/>'
                f'<rect class="{name}" x="{right - 4:.1f}" {tall} width="4" rx="2"/></g>'
            )
            text = next((each for each in bar.texts if _wide(each, SMALL) + 14 <= wide), "")
            if not text and wide > 40:
                text = _shortened(bar.texts[-1], wide - 14, SMALL)
            yield from _text(text, left + 7, y)
            continue
        if bar.derived:
            yield f'<g>{tip}<path class="mark {name}" d="M{left:.1f} {y - 6:.1f}l6 6 -6 6 -6 -6z"/></g>'
        else:
            yield f'<g>{tip}<circle class="mark {name}" cx="{left:.1f}" cy="{y:.1f}" r="5"/></g>'
        row = [(x, end) for other, x, end, at in bars if at == y and other is not bar]
        after = min((x for x, _ in row if x >= left), default=width - 2.0)
        before = max((end for _, end in row if end <= left), default=0.0)
        yield from _beside(bar, left, y, before, after)


def _beside(bar: Bar, x: float, y: float, before: float, after: float) -> Iterator[str]:
    """The text of an instant: behind it, if there is room before the next one, else in front of it."""
    for text in bar.texts:
        wide = _wide(text, SMALL) + 15
        if x + wide <= after:
            yield from _text(text, x + 9, y)
            return
        if x - wide >= before + 12 and not bar.derived:
            yield from _text(text, x - 9, y, ' text-anchor="end"')
            return


def _text(text: str, x: float, y: float, more: str = "") -> Iterator[str]:
    if text:
        yield f'<text class="ink" x="{x:.1f}" y="{y + 3.8:.1f}" font-size="{SMALL}"{more}>{escape(_clean(text))}</text>'


def _x(scene: Scene, time: int, gutter: int, width: int) -> float:
    first, last = scene.span
    return gutter + EDGE + (time - first) / max(last - first, 1) * (width - gutter - 2 * EDGE)


def _wide(text: str, size: int) -> float:
    return sum(0.32 if letter in "iljt.,:;|' ()[]" else 0.9 if letter in "mwMW" else 0.6 for letter in text) * size


def _shortened(text: str, room: float, size: int) -> str:
    if _wide(text, size) <= room:
        return text
    while text and _wide(text + "…", size) > room:
        text = text[:-1]
    return text + "…" if text else ""


def _clean(text: str) -> str:
    return UNWANTED.sub("�", text)


@cache
def _style() -> str:
    """Rules for both schemes, from the colours of the page."""
    css = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([a-z0-9-]+): (#\w+)", part)) for part in _schemes(css))
    fixed = (
        "text{font-family:Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
        ".line{fill:none;stroke-width:1}.link{fill:none!important;stroke-width:1.25;opacity:.6}"
        ".bar{fill-opacity:.22;stroke-width:1}.mark{stroke-width:1.25}"
    )
    return f"{fixed}{_rules(light)}@media (prefers-color-scheme:dark){{{_rules(dark)}}}"


def _schemes(css: str) -> tuple[str, str]:
    light, _, rest = css.partition("@media (prefers-color-scheme: dark)")
    return light, rest.partition("\n}")[0]


def _rules(colours: dict[str, str]) -> str:
    rules = [f".surface{{fill:{colours['surface']}}}", f".raised{{fill:{colours['raised']}}}"]
    rules += [f".{name}{{fill:{colours[name]}}}" for name in ("ink", "soft")]
    rules.append(f".line{{stroke:{colours['line']}}}")
    for kind in ("found", "given"):
        for number in range(1, COLOURS + 1):
            name = f"{kind}-{number}"
            rules.append(f".{name}{{fill:{colours[name]};stroke:{colours[name]}}}")
    rules.append(f".mark{{stroke:{colours['surface']}}}")
    return "".join(rules)
