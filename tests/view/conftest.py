"""Timelines for tests, and pages opened in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ensue
from ensue import datasets
from tests.browser import address_of

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def orders() -> ensue.Timeline:
    """Two days of a shop."""
    program = ensue.compile(datasets.path("orders.ensue"))
    return ensue.timeline(program, datasets.path("orders.jsonl"), title="Orders of a shop")


def open_page(page: Any, timeline: ensue.Timeline, folder: Path) -> Any:
    """The page of a timeline, once it is drawn; moves without gliding."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(address_of(timeline.save(folder / "page.html")))
    page.wait_for_selector("body.ready")
    settle(page)
    return page


def settle(page: Any) -> None:
    """Waits until all that was requested is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until(page: Any, expression: str) -> None:
    """Waits for an expression to hold. Playwright's own way evaluates text in the page, whose policy forbids it."""
    ends = time.monotonic() + 20
    while not page.evaluate(expression):
        assert time.monotonic() < ends, expression
        page.wait_for_timeout(20)


def state(page: Any) -> dict[str, Any]:
    settle(page)
    found: dict[str, Any] = page.evaluate("ensueTimeline.state()")
    return found


def place(page: Any, event: int) -> tuple[float, float]:
    """Position of an event in the drawing."""
    found = page.evaluate(f"ensueTimeline.place({event})")
    return found["x"], found["y"]


def colour_at(page: Any, x: float, y: float) -> tuple[int, ...]:
    """The colour of a pixel of the plot: red, green, blue."""
    found = page.evaluate(
        """([x, y]) => {
             const canvas = document.getElementById("plot"), frame = canvas.getBoundingClientRect();
             const ratio = canvas.width / frame.width;
             const at = [Math.round((x - frame.left) * ratio), Math.round((y - frame.top) * ratio)];
             return Array.from(canvas.getContext("2d").getImageData(...at, 1, 1).data);
           }""",
        [x, y],
    )
    return tuple(found[:3])
