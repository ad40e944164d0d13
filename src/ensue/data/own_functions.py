"""Python functions as functions of rules: their annotations give the types of parameters and results."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Union, get_args, get_origin

from ensue.data.errors import DataError, shortened
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import KEYWORDS
from ensue.language.functions import FUNCTIONS, OPERATORS, TIMERS, Signature
from ensue.language.own import OwnFunction

TYPES: dict[object, str] = {int: "int", float: "float", str: "string", bool: "bool", datetime: "timestamp"}
"""Annotations, and the types of rules that they stand for."""

KINDS = {"keyword": KEYWORDS, "function": FUNCTIONS, "aggregate": AGGREGATES, "timer": TIMERS, "operator": OPERATORS}
"""Names of the language."""

KNOWN = "int, float, str, bool and datetime, each also with `| None`"


def read_functions(functions: Mapping[str, Callable[..., Any]] | None) -> dict[str, OwnFunction]:
    """Functions by the names that rules call them by; raises a `DataError` for one that cannot be used.

    >>> def distance(a: float, b: float | None, exact: bool = True) -> float: ...
    >>> found = read_functions({"distance": distance})["distance"]
    >>> found.signature.shown("distance"), found.signature.result, found.nullable
    ('distance(float, float[, bool])', 'float', (False, True, False))
    """
    if functions is None:
        return {}
    if not isinstance(functions, Mapping):
        raise DataError(f'`functions` is {shortened(functions)}; pass a dict: {{"distance": distance}}.')
    return {name: _read(name, function) for name, function in functions.items()}


def _read(name: Any, function: Any) -> OwnFunction:
    _check_name(name)
    if not callable(function):
        raise DataError(f"The function {name!r} is {shortened(function)}, which cannot be called.")
    try:
        signature = inspect.signature(function, eval_str=True)
    except (TypeError, ValueError):
        raise DataError(
            f"What the function {name!r} takes is not known to Python; wrap it in one with annotations: "
            f"`def {name}(x: float) -> float: …`."
        ) from None
    except (NameError, AttributeError, SyntaxError) as error:
        raise DataError(f"The annotations of the function {name!r} cannot be read: {error}.") from None
    parameters: list[str] = []
    nullable: list[bool] = []
    optional = 0
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty:
            continue
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise DataError(
                f"The function {name!r} has a parameter `{parameter}`; rules pass arguments by position, as many "
                "as there are."
            )
        type_, null = _type_of(parameter.annotation, f"parameter `{parameter.name}` of the function {name!r}")
        parameters.append(type_)
        nullable.append(null)
        optional += parameter.default is not parameter.empty
    if not parameters:
        raise DataError(f"The function {name!r} takes no argument; rules hold constants as they are, or in a table.")
    result, _ = _type_of(signature.return_annotation, f"result of the function {name!r}")
    text = (inspect.getdoc(function) or "a function of your own").splitlines()[0]
    optional = min(optional, len(parameters) - 1)
    return OwnFunction(name, Signature(tuple(parameters), result, text, function, optional), tuple(nullable))


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise DataError(f"{name!r} is not a name for a function; a name is made of letters, digits and `_`.")
    for kind, names in KINDS.items():
        if name in names:
            raise DataError(
                f"A function cannot be called {name!r}, as this is {'an' if kind[0] in 'ao' else 'a'} {kind} of the "
                "language; pass it under another name."
            )


def _type_of(annotation: Any, what: str) -> tuple[str, bool]:
    """The type of an annotation, and True if null is one of its values."""
    if annotation is inspect.Parameter.empty:
        raise DataError(f"The {what} has no annotation, and needs one: rules take {KNOWN}.")
    options = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    others = [option for option in options if option not in (None, type(None))]
    if len(others) != 1 or others[0] not in TYPES:
        written = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        raise DataError(f"The {what} is annotated `{written}`; rules take {KNOWN}.")
    return TYPES[others[0]], len(options) > 1
