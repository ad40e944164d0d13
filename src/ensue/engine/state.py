"""The state of a detection as bytes, in an encoding of its own: data only, so that reading it runs no code.

A value is written after its parts, with their number; so neither writing nor reading is recursive. Texts, tuples and
dicts are written once. After that a number refers to them, and one object stays one object.

Around it stand a magic text, versions, a fingerprint of the program, the length, and a checksum. The checksum finds
damage; it does not prove who wrote the state, so read only states from sources you trust.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import numpy as np

from ensue.language import syntax
from ensue.language.print import show_meaning

MAGIC = b"ensue state\n"
FORMAT = 1
"""The version of the encoding."""
VERSION = 9
"""The version of the encoded data: it grows whenever the engine changes its state."""

_HEADER = struct.Struct("<HH32sQ")
_BEFORE = len(MAGIC) + _HEADER.size + 32
_DOUBLE = struct.Struct("<d")
_LONG = struct.Struct("<q")

DTYPES = ("|b1", "|u1", "|i1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f4", "<f8")


class StateError(ValueError):
    """A saved state cannot be used. The message gives the reason and a remedy."""


# --- the frame --------------------------------------------------------------------------------------------------------


def fingerprint(file: syntax.File) -> bytes:
    """A hash of a program without tests and reactions, which no state depends on."""
    kept = (s for s in file.statements if not isinstance(s, syntax.Test | syntax.Reaction))
    return hashlib.sha256("\n".join(map(show_meaning, kept)).encode()).digest()


def seal(state: Any, program: bytes) -> bytes:
    """A state as bytes, for the program with a fingerprint.

    >>> unseal(seal({"time": 3}, bytes(32)), bytes(32))
    {'time': 3}
    """
    written = encode(state)
    header = MAGIC + _HEADER.pack(FORMAT, VERSION, program, len(written))
    return header + hashlib.sha256(header + written).digest() + written


def unseal(data: bytes, program: bytes) -> Any:
    """The state in some bytes, if it is one of this program and of this version."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StateError(f"A state is the bytes that `save` returned, not a {type(data).__name__}.")
    data = bytes(data)
    if data[: len(MAGIC)] != MAGIC[: len(data)] or not data:
        raise StateError("This is not the state of a session: pass the bytes that `save` returned.")
    if len(data) < _BEFORE:
        raise StateError("The state is cut short; use another copy of it, or send the events again to a new session.")
    format_, version, found, length = _HEADER.unpack_from(data, len(MAGIC))
    if (format_, version) != (FORMAT, VERSION):
        raise StateError(
            f"The state was written by another version of ensue (state version {format_}.{version}, this one reads "
            f"{FORMAT}.{VERSION}). Resume it with that version, or send the events again to a new session."
        )
    header, checksum, written = data[: _BEFORE - 32], data[_BEFORE - 32 : _BEFORE], data[_BEFORE:]
    if len(written) < length:
        raise StateError("The state is cut short; use another copy of it, or send the events again to a new session.")
    if len(written) > length or hashlib.sha256(header + written).digest() != checksum:
        raise StateError("The state is damaged; use another copy of it, or send the events again to a new session.")
    if found != program:
        raise StateError(
            "The state was saved by a session of other rules. Resume it with the rules that it was saved with "
            "(`session.rules`), then change them with `add` and `remove`; or send the events again to a new session."
        )
    return decode(written)


# --- writing ----------------------------------------------------------------------------------------------------------


_END = object()
"""Marks on the stack of values to write: the parts of a value are done; its tag and its id come next."""


def encode(value: Any) -> bytes:
    """Plain values and arrays as bytes."""
    out: list[bytes] = []
    write = out.append
    known: dict[Any, int] = {}  # texts, and ids of others written once, with their numbers
    numbers = count()
    waiting: list[Any] = [value]
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind in _LEAVES:
            write(_LEAVES[kind](value))
        elif value is _END:
            tag, id_ = waiting.pop(), waiting.pop()
            write(tag)
            if tag[:1] in _KEPT:
                known[id_] = next(numbers)
        elif kind in _ONCE and (number := known.get(value if kind is str else id(value))) is not None:
            if number < 0:
                raise StateError("A value that holds itself cannot be saved.")
            write(b"r" + _number(number))
        elif kind is str:
            text = value.encode("utf-8", "surrogatepass")
            write(b"s" + _number(len(text)) + text)
            known[value] = next(numbers)
        else:
            if kind in _ONCE:
                known[id(value)] = -1
            tag, parts = _parts(value)
            waiting += (id(value), tag, _END)
            waiting += reversed(parts)
    return b"".join(out)


def _number(number: int) -> bytes:
    """A number that is not negative, seven bits a byte."""
    if number < 128:
        return _SMALL[number]
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


_SMALL = [bytes((number,)) for number in range(128)]


def _integer(number: int) -> bytes:
    if -(2**63) <= number < 2**63:
        return b"j" + _LONG.pack(number) if not 0 <= number < 128 else b"c" + _SMALL[number]
    length = (number.bit_length() + 8) // 8
    return b"i" + _number(length) + number.to_bytes(length, "little", signed=True)


def _bytes(value: bytes) -> bytes:
    return b"b" + _number(len(value)) + value


def _array(array: np.ndarray[Any, Any]) -> bytes:
    if array.dtype.str not in DTYPES:
        raise StateError(f"An array of {array.dtype} cannot be saved.")
    shape = b"".join(map(_number, array.shape))
    header = bytes((DTYPES.index(array.dtype.str),)) + _number(array.ndim) + shape
    return b"a" + header + np.ascontiguousarray(array).tobytes()


def _text(tag: bytes, text: Callable[[Any], str]) -> Callable[[Any], bytes]:
    """Encodes values that are written as a text."""

    def write(value: Any) -> bytes:
        written = text(value).encode()
        return tag + _number(len(written)) + written

    return write


_LEAVES: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"T" if value else b"F",
    int: _integer,
    float: lambda value: b"f" + _DOUBLE.pack(value),
    bytes: _bytes,
    np.ndarray: _array,
    datetime: _text(b"d", lambda moment: moment.isoformat() + "*" * moment.fold),
    date: _text(b"D", date.isoformat),
    time: _text(b"t", lambda moment: moment.isoformat() + "*" * moment.fold),
    timedelta: _text(b"l", lambda length: str(length // timedelta(microseconds=1))),
    Decimal: _text(b"n", str),
}
_ONCE = frozenset({str, tuple, dict})
"""The types of values that are written once."""
_KEPT = frozenset((b"(", b"{"))
"""The tags of values that the reader keeps, for later references."""


def _parts(value: Any) -> tuple[bytes, Sequence[Any]]:
    """The tag of a value with the number of its parts, and the parts."""
    kind = type(value)
    if kind is tuple:
        return b"(" + _number(len(value)), value
    match value:
        case Mapping():
            return b"{" + _number(len(value)), [each for item in value.items() for each in item]
        case tuple():
            return b"(" + _number(len(value)), value
        case list():
            return b"[" + _number(len(value)), value
        case set():
            return b"S" + _number(len(value)), list(value)
        case frozenset():
            return b"Z" + _number(len(value)), list(value)
        case np.integer() | np.floating() | np.bool_():
            return b"=", [value.item()]
        case datetime():  # a subclass: pandas has one
            return b"=", [value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else _plain(value)]
        case _:
            raise StateError(f"A value of type {type(value).__name__} cannot be saved: {value!r:.60}")


def _plain(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), moment.timetz())


# --- reading ----------------------------------------------------------------------------------------------------------


def decode(data: bytes) -> Any:
    """The value of some bytes.

    >>> decode(encode({"a": (1, 2.5, None), "b": {"x"}}))
    {'a': (1, 2.5, None), 'b': {'x'}}
    """
    try:
        return _Reader(data).read()
    except StateError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, MemoryError, struct.error) as error:
        raise StateError(
            "The state is damaged; use another copy of it, or send the events again to a new session."
        ) from error


class _Reader:
    """Reads values onto a stack, from which the values that contain them take them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.kept: list[Any] = []

    def read(self) -> Any:
        data, length, push = self.data, len(self.data), self.stack.append
        while self.at < length:
            tag = data[self.at]
            self.at += 1
            push(_READERS[tag](self))
        (value,) = self.stack
        return value

    def number(self) -> int:
        found = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number that is too long")

    def folded(self, kind: type[datetime] | type[time]) -> datetime | time:
        """A moment; a star after it marks the second of two equal clock times."""
        text = self.counted().decode()
        moment = kind.fromisoformat(text.rstrip("*"))
        return moment.replace(fold=1) if text.endswith("*") else moment

    def counted(self) -> bytes:
        return self.take(self.number())

    def take(self, length: int) -> bytes:
        end = self.at + length
        if end > len(self.data):
            raise ValueError("the end is missing")
        found = self.data[self.at : end]
        self.at = end
        return found

    def parts(self, count: int) -> list[Any]:
        if count > len(self.stack):
            raise ValueError("parts are missing")
        at = len(self.stack) - count
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def keep(self, value: Any) -> Any:
        self.kept.append(value)
        return value

    def mapping(self) -> dict[Any, Any]:
        parts = self.parts(2 * self.number())
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def array(self) -> np.ndarray[Any, Any]:
        dtype = np.dtype(DTYPES[self.data[self.at]])
        self.at += 1
        dimensions = self.number()
        if dimensions > 8:
            raise ValueError("an array of too many dimensions")
        shape = [self.number() for _ in range(dimensions)]
        size = dtype.itemsize
        for length in shape:
            size *= length
        return np.frombuffer(self.take(size), dtype).reshape(shape).copy()


_READERS: dict[int, Callable[[_Reader], Any]] = {
    ord(tag): read
    for tag, read in {
        "N": lambda r: None,
        "T": lambda r: True,
        "F": lambda r: False,
        "i": lambda r: int.from_bytes(r.counted(), "little", signed=True),
        "j": lambda r: _LONG.unpack(r.take(8))[0],
        "c": lambda r: r.take(1)[0],
        "f": lambda r: _DOUBLE.unpack(r.take(8))[0],
        "b": _Reader.counted,
        "a": _Reader.array,
        "d": lambda r: r.folded(datetime),
        "D": lambda r: date.fromisoformat(r.counted().decode()),
        "t": lambda r: r.folded(time),
        "l": lambda r: timedelta(microseconds=int(r.counted().decode())),
        "n": lambda r: Decimal(r.counted().decode()),
        "s": lambda r: r.keep(r.counted().decode("utf-8", "surrogatepass")),
        "r": lambda r: r.kept[r.number()],
        "=": lambda r: r.parts(1)[0],
        "(": lambda r: r.keep(tuple(r.parts(r.number()))),
        "[": lambda r: r.parts(r.number()),
        "{": lambda r: r.keep(r.mapping()),
        "S": lambda r: set(r.parts(r.number())),
        "Z": lambda r: frozenset(r.parts(r.number())),
    }.items()
}
