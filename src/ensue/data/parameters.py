"""Convert values of parameters, passed as Python objects, to the notation of rules."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from ensue.data.errors import DataError, did_you_mean, listed, shortened
from ensue.data.moments import length_of
from ensue.data.python_values import is_text
from ensue.language import syntax
from ensue.language.parameters import WRITTEN, Parameter
from ensue.language.print import show

_WORDS = {"true": True, "false": False}


def written_values(given: Mapping[str, Any], parameters: Iterable[Parameter], texts: bool = False) -> dict[str, str]:
    """Values by the names of parameters, as rules write them; with `texts` they are read from text.

    >>> limit, wait = Parameter("limit", "float", None), Parameter("wait", "duration", None)
    >>> written_values({"limit": 80, "wait": timedelta(minutes=5)}, [limit, wait])
    {'limit': '80.0', 'wait': '5m'}
    """
    if not isinstance(given, Mapping):
        raise DataError(f"`params` is {shortened(given)}; pass a dict of values by the names of parameters.")
    known = {parameter.name: parameter for parameter in parameters}
    found = {}
    for name, value in given.items():
        if name not in known:
            there = f"there is {listed(known)}" if known else "they declare none"
            raise DataError(f"The rules have no parameter {name!r}; {there}.{did_you_mean(str(name), known)}")
        found[name] = _written(value, known[name], texts)
    return found


def _written(value: Any, parameter: Parameter, text: bool) -> str:
    read = _from_text(value, parameter.type) if text and isinstance(value, str) else value
    node = _node(read, parameter.type)
    if isinstance(node, syntax.Literal) and isinstance(node.value, str) and not is_text(node.value):
        raise DataError(
            f"The parameter {parameter.name!r} is {shortened(value)}, which is no text: half a surrogate pair is no "
            "character."
        )
    if node is None:
        raise DataError(
            f"The parameter {parameter.name!r} is declared as {parameter.type}, and {shortened(value)} is none: "
            f"write it {WRITTEN[parameter.type].replace('`', '')}."
        )
    return show(node)


def _from_text(text: str, type_: str) -> Any:
    """Read a value from text, as on a command line; the text itself where it is nothing else."""
    try:
        match type_:
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "bool":
                return _WORDS.get(text.lower(), text)
            case "duration" if text.removeprefix("-").isdecimal():
                return int(text)
            case _:
                return text
    except ValueError:
        return text


def _node(value: Any, type_: str) -> syntax.Node | None:
    """A value as a constant of a type; None if it is none."""
    value = getattr(value, "item", lambda: value)()  # NumPy's numbers
    match type_, value:
        case "bool", bool():
            return syntax.Literal(value)
        case _, bool() | None:
            return None
        case "int", int() if -(2**63) <= value < 2**63:
            return syntax.Literal(value)
        case "float", int() | float() if math.isfinite(value):
            return syntax.Literal(float(value))
        case "string", str():
            return syntax.Literal(value)
        case "timestamp", datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return syntax.Literal(moment.isoformat())
        case "timestamp", date():
            return syntax.Literal(value.isoformat())
        case "timestamp", str():
            try:
                datetime.fromisoformat(value)
            except ValueError:
                return None
            return syntax.Literal(value)
        case "duration", int():
            return syntax.Amount(value)
        case "duration", timedelta():
            return syntax.Amount(value // timedelta(microseconds=1), timed=True)
        case "duration", str():
            try:
                return syntax.Amount(length_of(value, "us", timestamps=True), timed=True)
            except DataError:
                return None
        case _:
            return None


def read_parameters(path: str) -> dict[str, Any]:
    """The values in a file: an object in JSON, or TOML where its name ends in ``.toml``."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"The file of parameters {path} cannot be read: {reason}.") from None
    import tomllib

    try:
        found = tomllib.loads(text) if path.lower().endswith(".toml") else json.loads(text)
    except ValueError as error:
        raise DataError(f"The file of parameters {path} is neither JSON nor TOML: {error}.") from None
    if not isinstance(found, dict):
        raise DataError(f'The file of parameters {path} holds no object; write {{"limit": 80}}.')
    return found
