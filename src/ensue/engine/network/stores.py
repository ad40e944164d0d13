"""What nodes keep: instances by their correlation, as long as they can matter."""

from __future__ import annotations

from collections.abc import Callable

from ensue.engine.network.instances import Instance


class Store:
    """Instances by their correlation, oldest end first; those that are over go when there are as many as live ones."""

    def __init__(self, over: Callable[[Instance, int], bool] | None) -> None:
        self.by_value: dict[tuple[object, ...], list[Instance]] = {}
        self.over = over
        self.added = 0
        self.kept = 0

    def add(self, key: tuple[object, ...], instance: Instance, time: int) -> None:
        self.by_value.setdefault(key, []).append(instance)
        self.added += 1
        if self.over is not None and self.added > self.kept + 32:
            self.sweep(time)

    def sweep(self, time: int) -> None:
        over = self.over
        if over is not None:
            swept = {}
            for key, instances in self.by_value.items():
                live = [instance for instance in instances if not over(instance, time)]
                if live:
                    swept[key] = live
            self.by_value = swept
        self.kept = sum(map(len, self.by_value.values()))
        self.added = 0

    def get(self, key: tuple[object, ...]) -> list[Instance]:
        return self.by_value.get(key, [])
