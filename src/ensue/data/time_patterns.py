"""Times as text in any format, a value at a time and a column at a time: `%d/%b/%Y:%H:%M:%S %z` as a pattern.

A format has the directives of `strptime`. It becomes one regular expression, which Python and Arrow both understand,
and its groups become a moment in the same way for both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property, lru_cache

import pyarrow as pa

from ensue import compute as pc
from ensue.data.errors import DataError
from ensue.data.iso import EPOCH, MICROSECOND
from ensue.records import dataclass

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_REST_OF_MONTHS = ("uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember")
_MONTH = "|".join(f"{month}(?:{rest})?" if rest else month for month, rest in zip(MONTHS, _REST_OF_MONTHS, strict=True))
_WEEKDAY = r"(?i:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
_ZONE = r"(?:Z|UTC|GMT|(?P<zs>[+-])(?P<zh>[01][0-9]|2[0-3]):?(?P<zm>[0-5][0-9])?)"

_DIRECTIVES = {
    "Y": r"(?P<Y>[0-9]{4})",
    "y": r"(?P<y>[0-9]{2})",
    "m": r"(?P<m>1[0-2]|0?[1-9])",
    "b": rf"(?P<b>(?i:{_MONTH}))",
    "d": r"(?P<d>3[01]|[12][0-9]|0?[1-9])",
    "H": r"(?P<H>2[0-3]|[01]?[0-9])",
    "I": r"(?P<I>1[0-2]|0?[1-9])",
    "p": r"(?P<p>(?i:[ap]m))",
    "M": r"(?P<M>[0-5]?[0-9])",
    "S": r"(?P<S>[0-5]?[0-9])",
    "f": r"(?P<f>[0-9]{1,9})",
    "z": _ZONE,
    "a": _WEEKDAY,
}
_SAME = {"B": "b", "h": "b", "e": "d", "A": "a", "Z": "z", "k": "H", "l": "I"}
_LONGER = {"T": "%H:%M:%S", "R": "%H:%M", "F": "%Y-%m-%d", "D": "%m/%d/%y"}
DIRECTIVES = "%Y %y %m %b %B %d %e %H %I %p %M %S %f %z %a %A %T %F %R %D %%"
"""The directives that messages and the documentation name; a few more mean the same as one of them."""

_MINUTE = 60_000_000


@dataclass(frozen=True)
class TimePattern:
    """A format of times; `year` stands for the one that it lacks.

    >>> TimePattern("%d/%b/%Y:%H:%M:%S %z").micros("01/Jan/1970:02:00:01 +0200")
    1000000
    >>> TimePattern("%b %d %H:%M", year=1970).micros("Jan  2 00:00"), TimePattern("%Y-%m-%d").micros("1970-02-30")
    (86400000000, None)
    """

    format: str
    year: int | None = None

    @cached_property
    def regex(self) -> str:
        return f"^{_regex_of(self.format)}$"

    @cached_property
    def has_year(self) -> bool:
        return "(?P<Y>" in self.regex or "(?P<y>" in self.regex

    @cached_property
    def zoned(self) -> bool:
        """True if texts contain their zone."""
        return "(?P<zs>" in self.regex

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.regex)

    def micros(self, text: str) -> int | None:
        """Microseconds since 1970 of a text, local ones if it has no zone; None if it does not fit."""
        found = self._compiled.fullmatch(text.strip())
        return None if found is None else self._moment({key: part or "" for key, part in found.groupdict().items()})

    def _moment(self, parts: Mapping[str, str]) -> int | None:
        month = MONTHS.index(parts["b"][:3].lower()) + 1 if "b" in parts else int(parts.get("m", "1"))
        hour = int(parts["I"]) % 12 if "I" in parts else int(parts.get("H", "0"))
        if parts.get("p", "").lower() == "pm" and hour < 12:
            hour += 12
        try:
            moment = datetime(
                self._year(parts), month, int(parts.get("d", "1")), hour, int(parts.get("M", "0")),
                int(parts.get("S", "0")), int(parts.get("f", "0").ljust(6, "0")[:6]), tzinfo=UTC,
            )  # fmt: skip
        except ValueError:
            return None
        minutes = int(parts.get("zh") or 0) * 60 + int(parts.get("zm") or 0)
        return (moment - EPOCH) // MICROSECOND - (-minutes if parts.get("zs") == "-" else minutes) * _MINUTE

    def _year(self, parts: Mapping[str, str]) -> int:
        if "Y" in parts:
            return int(parts["Y"])
        if "y" in parts:
            return int(parts["y"]) + (1900 if int(parts["y"]) >= 69 else 2000)
        return self.year or 2000  # a leap year, in which there is every day

    def micros_of_column(self, texts: pa.ChunkedArray) -> pa.ChunkedArray:
        """The same for a column of strings."""
        trimmed = pc.utf8_trim_whitespace(texts)
        found = pc.extract_regex(trimmed, self.regex)
        kind = found.type
        parts = {kind.field(i).name: pc.struct_field(found, i) for i in range(kind.num_fields)}
        text = pc.binary_join_element_wise(
            self._year_column(parts, found), "-", _month_column(parts, found), "-", _digits(parts, "d", "01", found),
            "T", _hour_column(parts, found), ":", _digits(parts, "M", "00", found), ":",
            _digits(parts, "S", "00", found), ".", _fraction(parts, found), "",
        )  # fmt: skip
        try:
            micros = text.cast(pa.timestamp("us")).cast(pa.int64())
        except pa.ArrowInvalid:  # the 30th of February: only a value at a time tells which rows those are
            values = [None if value is None else self.micros(value) for value in trimmed.to_pylist()]
            return pa.chunked_array([pa.array(values, pa.int64())])
        return micros if "zs" not in parts else pc.subtract(micros, _offset(parts))

    def _year_column(self, parts: Mapping[str, pa.ChunkedArray], found: pa.ChunkedArray) -> pa.ChunkedArray:
        if "Y" in parts:
            return parts["Y"]
        if "y" in parts:
            century = pc.if_else(pc.greater_equal(parts["y"], "69"), "19", "20")
            return pc.binary_join_element_wise(century, parts["y"], "")
        return _everywhere(f"{self.year or 2000:04}", found)


@lru_cache(256)
def time_pattern(format: str, year: int | None = None) -> TimePattern:
    """The pattern of a format; a format without day or month is an error."""
    pattern = TimePattern(format, year)
    regex = pattern.regex
    wanted = {"day": ("(?P<d>",), "month": ("(?P<m>", "(?P<b>")}
    for what, groups in wanted.items():
        if not any(group in regex for group in groups):
            raise DataError(f"The time format {format!r} has no {what}; a time needs one (%Y-%m-%d %H:%M:%S).")
    return pattern


def _regex_of(format: str) -> str:
    """The regular expression of a format. Spaces stand for any blank space."""
    for letter, longer in _LONGER.items():
        format = re.sub(rf"(?<!%)((?:%%)*)%{letter}", rf"\1{longer}", format)
    pieces: list[str] = []
    seen: set[str] = set()
    for found in re.finditer(r"%(.)|(\s+)|([^%\s])|(%)", format, re.DOTALL):
        letter, space, sign, lone = found.groups()
        if space:
            pieces.append(r"\s+")
        elif sign or letter == "%" or lone:
            pieces.append(re.escape(sign or "%"))
        else:
            name = _SAME.get(letter, letter)
            if name not in _DIRECTIVES:
                raise DataError(
                    f"The time format {format!r} has %{letter}, which is not known here; known are {DIRECTIVES}."
                )
            if name in seen and name != "a":
                raise DataError(f"The time format {format!r} has %{letter} twice.")
            seen.add(name)
            pieces.append(_DIRECTIVES[name])
    return "".join(pieces)


# --- parts of a time, as columns of text of a fixed length


def _everywhere(text: str, found: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same text in each row that has been read."""
    return pc.if_else(pc.is_valid(found), text, pa.scalar(None, pa.string()))


def _digits(parts: Mapping[str, pa.ChunkedArray], name: str, usual: str, found: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_lpad(parts[name], 2, "0") if name in parts else _everywhere(usual, found)


def _month_column(parts: Mapping[str, pa.ChunkedArray], found: pa.ChunkedArray) -> pa.ChunkedArray:
    if "b" not in parts:
        return _digits(parts, "m", "01", found)
    short = pc.utf8_slice_codeunits(pc.utf8_lower(parts["b"]), 0, 3)
    number = pc.add(pc.index_in(short, pa.array(MONTHS)), 1)
    return pc.utf8_lpad(number.cast(pa.string()), 2, "0")


def _hour_column(parts: Mapping[str, pa.ChunkedArray], found: pa.ChunkedArray) -> pa.ChunkedArray:
    if "I" not in parts and "p" not in parts:
        return _digits(parts, "H", "00", found)
    hour = (parts["I"] if "I" in parts else _digits(parts, "H", "00", found)).cast(pa.int64())
    hour = pc.if_else(pc.equal(hour, 12), 0, hour) if "I" in parts else hour
    if "p" in parts:
        late = pc.and_(pc.equal(pc.utf8_lower(parts["p"]), "pm"), pc.less(hour, 12))
        hour = pc.if_else(late, pc.add(hour, 12), hour)
    return pc.utf8_lpad(hour.cast(pa.string()), 2, "0")


def _fraction(parts: Mapping[str, pa.ChunkedArray], found: pa.ChunkedArray) -> pa.ChunkedArray:
    if "f" not in parts:
        return _everywhere("000000", found)
    return pc.utf8_slice_codeunits(pc.utf8_rpad(parts["f"], 6, "0"), 0, 6)


def _offset(parts: Mapping[str, pa.ChunkedArray]) -> pa.ChunkedArray:
    """Microseconds by which a clock is ahead of UTC."""

    def number(name: str) -> pa.ChunkedArray:
        return pc.if_else(pc.equal(parts[name], ""), "0", parts[name]).cast(pa.int64())

    minutes = pc.multiply(pc.add(pc.multiply(number("zh"), 60), number("zm")), _MINUTE)
    return pc.if_else(pc.equal(parts["zs"], "-"), pc.negate(minutes), minutes)
