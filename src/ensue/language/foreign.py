"""Words of other languages, SQL and languages of patterns above all, and how the same is written here."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.language.lalr import Token

_SEQUENCE = "one event after another is `a seq b`; within a time, `a seq b within 5m` or `a before[..5m] b`"
_JOIN = "separate events with commas; a variable that occurs in two of them joins them: `order(id), shipped(id)`"
_INSTEAD = {
    "then": _SEQUENCE,
    "followed": _SEQUENCE,
    "followed_by": _SEQUENCE,
    "followedby": _SEQUENCE,
    "next": _SEQUENCE,
    "join": _JOIN,
    "inner": _JOIN,
    "as": "write a name before the event: `o: order(id)`; name a value in a head with `=`",
    "group": "the head groups by its other terms: `tries(user, n = count(*)) <- while last 1h: collect failed(user).`",
    "having": "a condition on an aggregate comes after `where`, as in `where count(f) >= 5`",
    "until": "no `p` between two events is `not p in [a, b]`; all `p` up to an event are `a seq p* seq b`",
    "unless": "write an absence as `while [w]: not p`, `not p in [a, b]` or `a without p`",
    "every": "every combination counts; for one partner each, write a context, as in `chronicle a seq b`",
}
_WINDOWS = (["WHILE", "LSQB"], ["WHILE", "LPAR"])
"""The tokens that begin a window with brackets."""
_SUFFIXES = ("WHERE", "ON", "WITHIN", "LASTING", "POLICY")
_QUIET = (("once", "per"), ("once", "in"), ("at", "most"))
_UNITS = {
    "us": ("us", "usec", "microsecond", "microseconds"),
    "ms": ("ms", "msec", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
}
_SHORT = {word: unit for unit, words in _UNITS.items() for word in words}
CONSTANTS = {
    "True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "None": "null", "NULL": "null", "Null": "null",
}  # fmt: skip
"""Constants as Python and SQL spell them; here they would be names of variables."""


def instead_of(tokens: Sequence[Token], at: int, words: Sequence[str]) -> str | None:
    """Suggest a replacement for a token that does not fit; `words` are words of the language that would fit."""
    token = tokens[at]
    word = str(token.value)
    small = word.lower()
    before = tokens[at - 1] if at else None
    if before is not None and before.type in ("INT", "FLOAT") and small in _SHORT:
        return f"a duration is written in one word, `{before.value}{_SHORT[small]}`"
    if before is not None and word == ">" and before.value == "-":
        return _SEQUENCE
    if at == 1 and before is not None and before.value.lower() == "select":
        return "a rule says what is derived, then from what: `big(id) <- order(id, qty) where qty > 3.`"
    if before is not None and before.type == "NAME" and before.value.lower() == "every" and token.type == "NAME":
        return _INSTEAD["every"]
    if token.value in ("(", ",") and [each.type for each in tokens[at - 3 : at - 1]] in _WINDOWS:
        return "name the timer first, as an item: `w: following(o, 6h), while [w]: not p`"
    if before is not None and before.value == "{" and token.type == "NAME":
        return "write a number between braces, as in `p{3}`; a parameter cannot stand there"
    if at > 1 and tokens[at - 2].value == "," and before is not None and (before.value, small) in _QUIET:
        return f"leave out the comma before `{before.value}`, as in `a(m, v), v > 10 once per m in 1h`"
    if before is not None and before.value == "," and token.type in _SUFFIXES:
        return f"leave out the comma before `{word}`: it applies to everything before it"
    if word != small and small in words:
        return _in_small_letters(tokens, at, small)
    return _INSTEAD.get(small) if token.type in ("NAME", "UNTIL") else None


def _in_small_letters(tokens: Sequence[Token], at: int, word: str) -> str:
    length = tokens[at + 1 : at + 3]
    if len(length) == 2 and length[0].type == "INT" and str(length[1].value).lower() in _SHORT:
        written = f"{length[0].value}{_SHORT[str(length[1].value).lower()]}"
        return f"write `{word} {written}`: keywords have small letters, and a duration is one word"
    if word == "on":
        return f"write keywords in small letters: `on`; {_JOIN}"
    return f"write keywords in small letters: `{word}`"
