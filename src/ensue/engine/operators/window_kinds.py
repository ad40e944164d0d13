"""The kinds of windows, by name."""

from __future__ import annotations

from ensue.engine.operators.window import Kind, Window
from ensue.engine.operators.window_any import AnyWindow
from ensue.engine.operators.window_count import CountWindow
from ensue.engine.operators.window_each import EachWindow
from ensue.engine.operators.window_gap import GapWindow
from ensue.engine.operators.window_since import SinceWindow
from ensue.engine.operators.window_span import SpanWindow

KINDS: dict[str, type[Kind]] = {
    "count": CountWindow, "span": SpanWindow, "each": EachWindow, "since": SinceWindow, "gap": GapWindow
}  # fmt: skip


def kind_of(window: Window) -> Kind:
    """The implementation of a window: one that computes each match again where groups or values depend on the rest."""
    anew = window.mixed or window.leaves_twice or window.forgets
    return AnyWindow(window) if anew else KINDS[window.window.kind](window)
