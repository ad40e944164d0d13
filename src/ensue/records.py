"""Dataclasses that read their fields and write their methods when these are first used.

`dataclasses` reads the fields of each class and compiles five methods while its module is imported. The language and
its plans are hundreds of small classes, of which a program uses a few, so that took a quarter of a short command's
time. Here `dataclasses` reads the fields when somebody asks for them, and a method is written when it is first called.

Objects, `fields`, `replace`, `asdict`, class patterns and signatures are as those of `dataclasses.dataclass`, which is
what type checkers take this for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True) -> Any:
        """Make a dataclass; its methods do as those of `dataclasses.dataclass`.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0), Point(y=2, x=1)
        (Point(x=1, y=0), True, Point(x=1, y=2))
        """
        return _completed(cls, frozen, eq) if cls is not None else lambda cls: _completed(cls, frozen, eq)


def _completed(cls: Any, frozen: bool, eq: bool) -> Any:
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else `dataclasses` has the signature written, to put it there
    for name in _OF_FIELDS:
        setattr(cls, name, _Unread(cls, name))
    methods: dict[str, Any] = {"__init__": _Late(cls, _frozen_init if frozen else _init), "__repr__": _Late(cls, _repr)}
    if eq:
        methods |= {"__eq__": _Late(cls, _eq), "__hash__": _Late(cls, _hash) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _setattr(cls), "__delattr__": _delattr(cls)}
    written = cls.__dict__.keys() - ({"__hash__"} if cls.__dict__.get("__hash__") is None else set())
    for name in methods.keys() - written:
        setattr(cls, name, methods[name])
    return cls


_OF_FIELDS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
"""Attributes of a class that follow from its fields."""

_reading = RLock()


class _Unread:
    """An attribute that follows from the fields of a class, until somebody asks for it."""

    def __init__(self, cls: type, name: str) -> None:
        self._class = cls
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        with _reading:
            if self._class.__dict__[self._name] is self:
                _read_fields(self._class)
        return self._class.__dict__[self._name]


def _read_fields(cls: Any) -> None:
    dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
    places = tuple(field.name for field in dataclasses.fields(cls) if field.init and not field.kw_only)
    type.__setattr__(cls, "__match_args__", places)


class _Late:
    """Placeholder for a method until it is called, or its signature is inspected."""

    def __init__(self, cls: type, write: Callable[[Any], Any]) -> None:
        self._class = cls
        self._write = write

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._write(self._class)
        method.__module__, method.__qualname__ = (
            self._class.__module__,
            f"{self._class.__qualname__}.{method.__name__}",
        )
        type.__setattr__(self._class, method.__name__, method)  # threads that come here at once write the same
        return method.__get__(instance, owner)


def _written(text: str, **known: Any) -> Any:
    """The function that a text defines."""
    exec(text, known)
    return known[text.removeprefix("def ").partition("(")[0]]


# --- making objects


class _Factory:
    """The default of a parameter whose value is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _init(cls: Any, assign: str = "self.{0} = {1}") -> Any:
    known: dict[str, Any] = {"__set__": object.__setattr__, "__factory__": _FACTORY}
    places, keywords, lines = ["self"], list[str](), list[str]()
    for field in dataclasses.fields(cls):
        if field.init:
            (keywords if field.kw_only else places).append(_parameter(field, known))
        value = _value(field, known)
        if value is not None:
            lines.append(assign.format(field.name, value))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*places, *(["*", *keywords] if keywords else [])])
    init = _written(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), **known)
    init.__annotations__ = {field.name: field.type for field in dataclasses.fields(cls) if field.init}
    init.__annotations__["return"] = None
    return init


def _frozen_init(cls: Any) -> Any:
    return _init(cls, "__set__(self, '{0}', {1})")


def _parameter(field: Field[Any], known: dict[str, Any]) -> str:
    if field.default is not MISSING:
        known[f"__default_{field.name}__"] = field.default
        return f"{field.name}=__default_{field.name}__"
    return field.name if field.default_factory is MISSING else f"{field.name}=__factory__"


def _value(field: Field[Any], known: dict[str, Any]) -> str | None:
    """The value that a field begins with; None if the class has it."""
    if field.default_factory is MISSING:
        return field.name if field.init else None
    known[f"__make_{field.name}__"] = field.default_factory
    made = f"__make_{field.name}__()"
    return f"{made} if {field.name} is __factory__ else {field.name}" if field.init else made


# --- comparing and showing them


def _values(cls: Any, record: str) -> str:
    """The tuple of the values by which objects are compared."""
    return "(" + "".join(f"{record}.{field.name}, " for field in dataclasses.fields(cls) if field.compare) + ")"


def _eq(cls: Any) -> Any:
    equal = f"{_values(cls, 'self')} == {_values(cls, 'other')}"
    return _written(
        f"def __eq__(self, other):\n return {equal} if other.__class__ is self.__class__ else NotImplemented"
    )


def _hash(cls: Any) -> Any:
    return _written(f"def __hash__(self):\n return hash({_values(cls, 'self')})")


def _repr(cls: Any) -> Any:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in dataclasses.fields(cls) if field.repr)
    return recursive_repr()(_written(f"def __repr__(self):\n return self.__class__.__qualname__ + f'({shown})'"))


# --- keeping them as they are


def _setattr(cls: Any) -> Callable[[Any, str, object], None]:
    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in cls.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _delattr(cls: Any) -> Callable[[Any, str], None]:
    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in cls.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__
