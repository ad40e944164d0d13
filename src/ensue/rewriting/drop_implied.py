"""`e before f, f before g, e before g` becomes `e before f, f before g`: implied relations are not checked."""

from __future__ import annotations

from ensue.language import typed
from ensue.temporal.constraints import Events
from ensue.temporal.implied import without_implied


def drop_implied(body: typed.Body, events: Events) -> typed.Body:
    return without_implied(body, events)
