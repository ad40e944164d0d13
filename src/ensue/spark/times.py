"""Times in Spark frames that are numbers of a unit, or text of a format, as timestamps: as in `ensue.data.times`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ensue.data.columns import UNITS, TimeFormat
from ensue.data.time_patterns import MONTHS, TimePattern, time_pattern
from ensue.spark.sql import as_integer, literal

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

INTEGERS = ("byte", "short", "integer", "long")
STRINGS = ("string", "varchar", "char")
_NUMBERS = (*INTEGERS, "float", "double", "decimal")
_MINUTE = 60_000_000


def needs_reading(type_: DataType, how: TimeFormat) -> bool:
    """True for a column of times that must be converted to timestamps, by the format or zone that is given."""
    name = type_.typeName()
    if name in ("timestamp_ntz", "date"):
        return how.timezone is not None
    if name in STRINGS:
        return bool(how)
    return name in _NUMBERS and (how.unit is not None or how.format is not None)


def read_time(column: str, type_: DataType, how: TimeFormat) -> str:
    """The times of a column as an expression: a timestamp, or one without a zone where none is known."""
    name = type_.typeName()
    if name in ("timestamp_ntz", "date"):
        return _moment(f"cast({column} as timestamp_ntz)", how)
    if how.unit is not None:
        return f"timestamp_micros({_micros(column, name, how.unit)})"
    text = column if name in STRINGS else f"cast(try_cast({column} as bigint) as string)"
    if how.format is not None:
        return _of_pattern(f"trim({text})", time_pattern(how.format, how.year), how)
    zoned = rf"{text} rlike {literal(r'(Z|[+-][0-9]{2}(:?[0-9]{2})?)$')} and length({text}) > 10"
    clean = f"replace(trim({text}), ',', '.')"
    local = _moment(f"try_cast({clean} as timestamp_ntz)", how)
    return f"if({zoned}, try_cast({clean} as timestamp), {local})"


def _micros(column: str, type_: str, unit: str) -> str:
    """Numbers of a unit as microseconds."""
    if type_ in STRINGS:
        whole, number = f"try_cast(trim({column}) as bigint)", f"try_cast(trim({column}) as double)"
        return f"coalesce({_micros(whole, 'long', unit)}, {_micros(number, 'double', unit)})"
    if type_ in INTEGERS:
        whole = f"cast({column} as bigint)"
        if unit == "ns":
            return f"({whole} div 1000L - if({whole} % 1000L < 0, 1L, 0L))"
        return f"try_multiply({whole}, {UNITS[unit]}L)"
    number = f"cast({column} as double)"
    scaled = f"floor({number} / 1000d)" if unit == "ns" else f"rint({number} * {UNITS[unit]}d)"
    return f"if(abs({scaled}) < {literal(2.0**62)}, try_cast({scaled} as bigint), null)"


def _moment(clock: str, how: TimeFormat) -> str:
    """Turn the time of a clock into a moment where its zone is known."""
    if how.timezone is None:
        return clock
    utc = f"convert_timezone({literal(how.timezone)}, 'UTC', {clock})"
    return f"timestamp_micros({as_integer(utc, 'timestamp_ntz')})"


def _of_pattern(text: str, pattern: TimePattern, how: TimeFormat) -> str:
    """Text of a format as a moment, or as a clock shows it."""
    regex = literal(pattern.regex.replace("(?P<", "(?<"))
    places = {name: place for place, name in enumerate(re.findall(r"\(\?P<(\w+)>", pattern.regex), 1)}

    def part(name: str) -> str:
        return f"regexp_extract({text}, {regex}, {places[name]})"

    def digits(name: str, usual: str) -> str:
        return f"lpad({part(name)}, 2, '0')" if name in places else f"'{usual}'"

    if "Y" in places:
        year = part("Y")
    elif "y" in places:
        year = f"concat(if({part('y')} >= '69', '19', '20'), {part('y')})"
    else:
        year = f"'{pattern.year or 2000:04}'"
    month = digits("m", "01")
    if "b" in places:
        at = f"locate(lower(substr({part('b')}, 1, 3)), '{''.join(MONTHS)}')"
        month = f"lpad(cast(({at} + 2) div 3 as string), 2, '0')"
    hour = digits("H", "00")
    if "I" in places or "p" in places:
        number = f"cast({part('I' if 'I' in places else 'H')} as int)"
        number = f"({number} % 12)" if "I" in places else number
        late = f"lower({part('p')}) = 'pm' and {number} < 12" if "p" in places else "false"
        hour = f"lpad(cast(if({late}, {number} + 12, {number}) as string), 2, '0')"
    fraction = f"substr(rpad({part('f')}, 6, '0'), 1, 6)" if "f" in places else "'000000'"
    clock = (
        f"concat({year}, '-', {month}, '-', {digits('d', '01')}, ' ', {hour}, ':', {digits('M', '00')}, ':', "
        f"{digits('S', '00')}, '.', {fraction})"
    )
    moment = f"if({text} rlike {regex}, try_cast({clock} as timestamp_ntz), null)"
    if not pattern.zoned:
        return _moment(moment, how)
    minutes = f"(coalesce(try_cast({part('zh')} as bigint), 0L) * 60L + coalesce(try_cast({part('zm')} as bigint), 0L))"
    offset = f"if({part('zs')} = '-', -{minutes}, {minutes}) * {_MINUTE}L"
    return f"timestamp_micros({as_integer(moment, 'timestamp_ntz')} - {offset})"
