"""A plot as SVG: panels side by side, each with lines over one axis that they share in meaning. Nothing to install."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#c2410c", "#1d4ed8", "#15803d")
WIDTH, HEIGHT = 400, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 44, 48
STEPS = (1, 2, 2.5, 5, 10)
DARK = "".join(
    f'[{attribute}="{light}"]{{{{{attribute}:{dark}}}}}'
    for attribute, light, dark in (
        ("fill", "#ffffff", "#0d0f16"),
        ("fill", "#c2410c", "#fb923c"),
        ("fill", "#1d4ed8", "#60a5fa"),
        ("fill", "#15803d", "#4ade80"),
        ("stroke", "#c2410c", "#fb923c"),
        ("stroke", "#1d4ed8", "#60a5fa"),
        ("stroke", "#15803d", "#4ade80"),
        ("stroke", "#dddddd", "#333846"),
    )
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    'font-family="sans-serif" font-size="11">\n'
    "<style>@media (prefers-color-scheme:dark){{text:not([fill]){{fill:#e6e8ee}}" + DARK + "}}</style>\n"
    '<rect width="{width}" height="{height}" fill="#ffffff"/>'
)

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """`lines` by their names; both axes begin at 0."""

    title: str
    lines: Mapping[str, Points]


def plot(panels: Sequence[Panel], along: str) -> str:
    """The panels as the text of an SVG file; `along` is the label of the axis below."""
    parts = [SVG.format(width=WIDTH * len(panels), height=HEIGHT)]
    for place, panel in enumerate(panels):
        parts += [f'<g transform="translate({place * WIDTH} 0)">', *_drawn(panel, along), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def ticks(most: float, count: int = 5) -> list[float]:
    """Round numbers from 0 on, at most `count` steps, so that the last is not below `most`.

    >>> ticks(150_000), ticks(3)
    ([0.0, 50000.0, 100000.0, 150000.0], [0.0, 1.0, 2.0, 3.0])
    """
    scale = 1.0
    while scale * 10 * count < most:
        scale *= 10
    step = next(scale * step for step in STEPS if scale * step * count >= most)
    return [step * number for number in range(int(-(-most // step)) + 1)]


def _drawn(panel: Panel, along: str) -> Iterator[str]:
    points = [point for line in panel.lines.values() for point in line]
    xs, ys = ticks(max(x for x, _ in points), 4), ticks(max(y for _, y in points))
    across, up = (WIDTH - LEFT - RIGHT) / xs[-1], (HEIGHT - TOP - BOTTOM) / ys[-1]
    floor = HEIGHT - BOTTOM
    yield f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold">{escape(panel.title)}</text>'
    for y in ys:
        at = floor - y * up
        yield f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{y:,.0f}</text>'
    for x in xs:
        yield f'<text x="{LEFT + x * across:.1f}" y="{floor + 16}" text-anchor="middle">{x:,.0f}</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(along)}</text>'
    for place, (name, line) in enumerate(panel.lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        path = " ".join(f"{LEFT + x * across:.1f},{floor - y * up:.1f}" for x, y in line)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield f'<text x="{LEFT + 120 * place}" y="34" fill="{colour}">{escape(name)}</text>'
