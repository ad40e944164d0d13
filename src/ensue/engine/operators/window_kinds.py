"""The kinds of windows, by name."""

from __future__ import annotations

from ensue.engine.operators.window import Kind
from ensue.engine.operators.window_any import AnyWindow
from ensue.engine.operators.window_count import CountWindow
from ensue.engine.operators.window_each import EachWindow
from ensue.engine.operators.window_since import SinceWindow
from ensue.engine.operators.window_span import SpanWindow

__all__ = ["KINDS", "AnyWindow"]

KINDS: dict[str, type[Kind]] = {"count": CountWindow, "span": SpanWindow, "each": EachWindow, "since": SinceWindow}
