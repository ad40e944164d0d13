"""What nodes keep: instances by their correlation, as long as they can matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ensue.engine.network.instances import Instance
from ensue.temporal.lifetimes import FOREVER, Lifetime

Key = tuple[Any, ...]

FEW = 32
"""How many more than were kept come in before what is over is looked for."""


class Store:
    """Instances by their correlation, oldest end first; those that are over go when there are as many as live ones."""

    def __init__(self, lifetime: Lifetime = FOREVER) -> None:
        self.by_value: dict[Key, list[Instance]] = {}
        self.lifetime = lifetime
        self.lacks: Callable[[Instance, int], bool] | None = None
        self.sweeps = lifetime.bounded
        self.added = 0
        self.kept = 0

    def add(self, key: Key, instance: Instance, time: int) -> None:
        self.by_value.setdefault(key, []).append(instance)
        self.added += 1
        if self.added > self.kept + FEW and self.sweeps:
            self.sweep(time)

    def forget(self, lacks: Callable[[Instance, int], bool]) -> None:
        """Has it forget also what lacks something, at a time, that it cannot do without."""
        self.lacks = lacks
        self.sweeps = True

    def sweep(self, time: int) -> None:
        """Forgets what is over."""
        over, lacks = self.lifetime.over, self.lacks
        if self.sweeps:
            swept = {}
            for key, instances in self.by_value.items():
                live = [instance for instance in instances if not over(instance, time)]
                if lacks is not None:
                    live = [instance for instance in live if not lacks(instance, time)]
                if live:
                    swept[key] = live
            self.by_value = swept
        self.kept = sum(map(len, self.by_value.values()))
        self.added = 0

    def get(self, key: Key) -> list[Instance]:
        return self.by_value.get(key, [])

    def end(self, key: Key, time: int) -> None:
        """Forgets what has this key and ended before a time."""
        live = [instance for instance in self.by_value.pop(key, ()) if instance.end >= time]
        if live:
            self.by_value[key] = live

    def __bool__(self) -> bool:
        return bool(self.by_value)
