"""Dataclasses whose methods are written late do as those of `dataclasses`."""

import copy
import dataclasses
import inspect
import pickle
import threading
from functools import cached_property
from typing import Any

import pytest

from ensue import records

DECORATORS = [dataclasses.dataclass, records.dataclass]


@records.dataclass(frozen=True)
class Kept:
    """At module level, so that it can be pickled."""

    name: str
    values: tuple[int, ...] = ()


def classes(dataclass: Any) -> list[type]:
    """Classes of every kind that is in use, by one of the decorators."""

    @dataclass(frozen=True)
    class Node:
        span: int = dataclasses.field(default=0, compare=False, kw_only=True, repr=False)

    @dataclass(frozen=True)
    class Name(Node):
        text: str
        quoted: bool = False

        @cached_property
        def size(self) -> int:
            return len(self.text)

    @dataclass
    class Open:
        first: int
        rows: list[int] = dataclasses.field(default_factory=list)
        begun: int = dataclasses.field(init=False)
        made: list[int] = dataclasses.field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            self.begun = self.first + 1

    @dataclass(frozen=True, eq=False)
    class Alone:
        value: int

    @dataclass(frozen=True)
    class Special:
        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Special)

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "special"

    @dataclass(frozen=True)
    class Empty:
        pass

    class Child(Name):
        """No dataclass itself."""

    return [Node, Name, Open, Alone, Special, Empty, Child]


MADE = [
    [((), {}), ((), {"span": 3})],
    [(("a",), {}), (("a",), {"span": 3}), (("b", True), {}), ((), {"text": "a", "quoted": True})],
    [((1,), {}), ((1, [2]), {}), ((), {"first": 1, "rows": [2]})],
    [((1,), {}), ((1,), {})],
    [((1,), {}), ((2,), {})],
    [((), {}), ((), {})],
    [(("a",), {}), (("b",), {"span": 3})],
]


def described(cls: type, calls: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> dict[str, Any]:
    """All that can be seen of a class and of objects of it."""
    objects = [cls(*places, **names) for places, names in calls]
    changed = [dataclasses.replace(each) for each in objects if not hasattr(each, "begun")]
    return {
        "repr": list(map(repr, objects)),
        "equal": [[one == other for one in objects] for other in objects],
        "other": objects[0] == "text",
        "hash": [_hash_or_error(each) for each in objects] if cls.__name__ != "Alone" else None,
        "dict": list(map(dataclasses.asdict, objects)),
        "match": cls.__match_args__,
        "signature": str(inspect.signature(cls)),
        "fields": [(each.name, each.type, each.init, each.compare, each.kw_only) for each in dataclasses.fields(cls)],
        "replaced": list(map(repr, changed)),
        "copied": [vars(copy.copy(each)) for each in objects],
        "set": [_error(lambda each=each: setattr(each, "text", 1)) for each in objects],
        "set another": [_error(lambda each=each: setattr(each, "another", 1)) for each in objects],
        "deleted": [_error(lambda each=each: delattr(each, "text")) for each in objects],
        "wrong": [_error(lambda: cls(1, 2, 3, 4, 5)), _error(lambda: cls(unknown=1))],
    }


def _hash_or_error(each: object) -> object:
    try:
        return hash(each)
    except TypeError as error:
        return str(error)


def _error(action: Any) -> str:
    try:
        action()
    except (AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


@pytest.mark.parametrize("place", range(len(MADE)))
def test_objects_are_as_those_of_dataclasses(place: int) -> None:
    theirs, ours = (described(classes(decorator)[place], MADE[place]) for decorator in DECORATORS)
    assert ours == theirs


def test_a_record_matches_by_place_and_is_pickled() -> None:
    match pickle.loads(pickle.dumps(Kept("a", (1, 2)))):
        case Kept(name, (first, *_)):
            assert (name, first) == ("a", 1)
        case _:
            pytest.fail("it is no pattern")
    assert pickle.loads(pickle.dumps(Kept("a"))) == Kept("a")


def test_each_object_has_its_own_default() -> None:
    kind = classes(records.dataclass)[2]
    one, other = kind(1), kind(1)
    one.rows.append(1)
    assert other.rows == []


def test_threads_make_first_objects_at_once() -> None:
    for _ in range(50):
        kind, gate, found = classes(records.dataclass)[1], threading.Barrier(4), list[object]()

        def make(kind: Any = kind, gate: threading.Barrier = gate, found: list[object] = found) -> None:
            gate.wait()
            found.append(kind("a", True))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [kind("a", True)] * 4


def test_fields_are_read_when_they_are_first_used() -> None:
    @records.dataclass(frozen=True)
    class Base:
        x: int

    @records.dataclass(frozen=True)
    class Derived(Base):
        y: list[int] = dataclasses.field(default_factory=list)

    unread = type(vars(Derived)["__dataclass_fields__"])
    assert unread is not dict
    assert Derived.__match_args__ == ("x", "y")  # as a class pattern does, before any object is made
    assert type(vars(Derived)["__dataclass_fields__"]) is dict
    assert [each.name for each in dataclasses.fields(Base)] == ["x"]
    assert Derived(1) == Derived(1, [])
    assert not hasattr(Derived, "y")  # a default that is made for each object is no attribute of the class
