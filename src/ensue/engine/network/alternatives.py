"""Alternatives, and patterns that remember where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ensue.engine.network.instances import Instance, changed, identity_of, named
from ensue.engine.network.node import New, Node
from ensue.language import typed
from ensue.language.walk import visible_labels, visible_variables
from ensue.values import identity


class Distinct:
    """Tells instances of one step that are the same, as one event on two sides of an `or` is: by parts, values, names.

    As long as something absent or gathered is still to be checked, it tells two instances apart (`with_spans`).
    """

    def __init__(self, pattern: typed.Pattern, with_spans: bool) -> None:
        self.variables = sorted(visible_variables(pattern))
        self.labels = sorted(visible_labels(pattern))
        self.with_spans = with_spans
        self.time: int | None = None
        self.seen: set[Any] = set()

    def new(self, time: int, instances: list[Instance]) -> list[Instance]:
        if time != self.time:
            self.time, self.seen = time, set()
        found = []
        for instance in instances:
            key = self._key(instance)
            if key not in self.seen:
                self.seen.add(key)
                found.append(instance)
        return found

    def _key(self, instance: Instance) -> Any:
        values = tuple(identity(instance.values[name]) for name in self.variables)
        labels = tuple(
            (start, end, identity(tuple(attributes.values())))
            for start, end, attributes in (instance.labels[label] for label in self.labels)
        )
        gathered = tuple((id_, tuple(map(identity_of, m))) for id_, m in instance.gathered.items())
        spans = tuple(instance.spans.items()) if self.with_spans else ()
        return (identity_of(instance), values, labels, gathered, spans)


class SeveralNode(Node):
    """Several patterns; what each of them finds counts, whether or not another one finds the same."""

    def __init__(self, alternatives: list[Node]) -> None:
        self.alternatives = alternatives

    def children(self) -> Iterator[Node]:
        return iter(self.alternatives)

    def step(self, time: int, new: New) -> list[Instance]:
        return [instance for node in self.alternatives for instance in node.step(time, new)]


class EitherNode(SeveralNode):
    """One of several patterns; what both sides find is found once."""

    def __init__(self, pattern: typed.Either, alternatives: list[Node]) -> None:
        super().__init__(alternatives)
        self.distinct = Distinct(pattern, with_spans=True)

    def step(self, time: int, new: New) -> list[Instance]:
        found = super().step(time, new)
        return self.distinct.new(time, found) if found else found


class LackingNode(Node):
    """The positive part of ``p without q``, which remembers its span."""

    def __init__(self, pattern: typed.Lacking, inner: Node) -> None:
        self.id = pattern.id
        self.inner = inner

    def children(self) -> Iterator[Node]:
        yield self.inner

    def step(self, time: int, new: New) -> list[Instance]:
        return [changed(m, spans={**m.spans, self.id: (m.start, m.end)}) for m in self.inner.step(time, new)]


class NestedNode(Node):
    """A body in parentheses, as one event with a name."""

    def __init__(self, label: str | None, body: Node) -> None:
        self.label = label
        self.body = body

    def children(self) -> Iterator[Node]:
        yield self.body

    def step(self, time: int, new: New) -> list[Instance]:
        return [named(instance, self.label) for instance in self.body.step(time, new)]
