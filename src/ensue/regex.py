"""Regular expressions that run in time linear in the text: RE2, as Arrow brings it.

A pattern that backtracks (`(a+)+$` in Python) can take years on a short text, and patterns may come from data. RE2 has
no features that need backtracking: no look-around, no references back to a group. Arrow compiles a pattern with each
call, so one call handles many texts (`search_all`, `groups_all`). All of it is part of the meaning: the reference and
the engine use the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Groups = tuple[str, ...]
"""A match of a pattern in a text: the whole of it, then each group in turn. A group that took no part is empty."""


LONGEST = 100_000
"""No pattern has more characters."""


def problem(pattern: str) -> str | None:
    """The error in a pattern; None if there is none.

    >>> problem("^a+$"), problem("(a"), problem("a(?=b)")
    (None, 'missing ): (a', 'invalid perl operator: (?=')
    """
    return _problem(pattern) if len(pattern) <= LONGEST else f"it has more than {LONGEST:,} characters"


@lru_cache(maxsize=256)
def _problem(pattern: str) -> str | None:
    try:
        _call("match_substring_regex", [""], pattern)
    except UnicodeError:
        return "it holds half of a character"
    except ValueError as error:
        return str(error).removeprefix("Invalid regular expression: ")
    return None


def advice(pattern: str) -> str | None:
    """Advice on a wrong pattern with features that RE2 lacks; None if it has none."""
    if re.search(r"\(\?<?[=!]", pattern):
        return "look-around is too slow, and not supported: use a second `matches`, or `not matches(…)`"
    if re.search(r"\\[1-9]|\(\?P=|\\k<", pattern):
        return "references back to a group are too slow, and not supported"
    if re.search(r"\(\?>|\(\?#|[*+?}]\+", pattern):
        return "there are no atomic groups, possessive repetitions or comments"
    if re.search(r"\\Z", pattern):
        return r"the end of the text is `$`, or `\\z` in a string"
    if re.search(r"\{\d{4,}|\{\d*,\d{4,}", pattern):
        return "a repetition counts up to 1000"
    return "the syntax is that of RE2; write two backslashes before a special character: `\\\\(`"


def search(text: str, pattern: str) -> bool | None:
    """True if the pattern is found in the text; None if the pattern is wrong.

    >>> search("abc", "b.$"), search("abc", "^b"), search("abc", "(")
    (True, False, None)
    """
    found: bool | None = search_all([text], pattern)[0]
    return found


def search_all(texts: Sequence[str], pattern: str) -> list[bool | None]:
    """Search many texts at once."""
    found: list[bool | None] = _answers("match_substring_regex", texts, pattern)
    return found


def groups(text: str, pattern: str) -> Groups | None:
    """The first match, whole and by group; None if there is none or the pattern is wrong.

    >>> groups("from ada to bob", "from (.*) to (.*)")
    ('from ada to bob', 'ada', 'bob')
    """
    return groups_all([text], pattern)[0]


def groups_all(texts: Sequence[str], pattern: str) -> list[Groups | None]:
    """The groups of many texts at once."""
    if problem(pattern) is not None:
        return [None] * len(texts)
    found = _answers("extract_regex", texts, _with_names(pattern))
    return [None if each is None else tuple(each.values()) for each in found]


def count_groups(pattern: str) -> int:
    """Number of groups in a pattern, without the whole match.

    >>> count_groups(r"(a)(?:b)\\((?P<name>[()])")
    2
    """
    return _with_names(pattern).count("(?P<g") - 1


def group_names(pattern: str) -> dict[str, int]:
    """The named groups of a pattern, each with its number among all groups.

    >>> group_names(r"(a)(?P<x>b)(?:c)\\((?<y>[(])")
    {'x': 2, 'y': 3}
    """
    opened = [token for token in _TOKEN.findall(pattern) if token.startswith("(")]
    return {token[token.index("<") + 1 : -1]: number for number, token in enumerate(opened, 1) if "<" in token}


def named_groups_all(texts: pa.Array, pattern: str) -> tuple[pa.Array, dict[str, pa.Array]]:
    """Search a column of texts: a mask of those that match, and a column for each named group.

    A group that took no part in a match is empty; where there is no match, it is null.
    """
    from ensue import compute as pc

    found = pc.extract_regex(texts, _with_names(pattern))
    columns = {name: pc.struct_field(found, number) for name, number in group_names(pattern).items()}
    return found.is_valid(), columns


# --- Arrow


def _answers(function: str, texts: Sequence[str], pattern: str) -> list[Any]:
    if problem(pattern) is not None or not all(type(text) is str for text in texts):
        return [None] * len(texts)
    try:
        found: list[Any] = _call(function, texts, pattern).to_pylist()
        return found
    except UnicodeError:  # half of a character: no text can be asked about
        return [_answers(function, [text], pattern)[0] for text in texts] if len(texts) > 1 else [None]


def _call(function: str, texts: Sequence[str], pattern: str) -> Any:
    import pyarrow as pa

    from ensue import compute as pc

    options = pc.ExtractRegexOptions if function == "extract_regex" else pc.MatchSubstringOptions
    return pc.call_function(function, [pa.array(texts, pa.large_string())], options(pattern))


# --- groups by number

_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|$)"  # taken literally
    r"|\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]"  # one character, or one of a class
    r"|\(\?P?<\w+>|\((?!\?)",  # a group
    re.DOTALL,
)


@lru_cache(maxsize=256)
def _with_names(pattern: str) -> str:
    """A pattern in which the whole and each group has a name: Arrow gives the groups that have one.

    >>> _with_names(r"(a|[(])+\\((?:b)(?<n>c)")
    '(?P<g0>(?P<g1>a|[(])+\\\\((?:b)(?P<g2>c))'
    """
    number = 0

    def named(token: re.Match[str]) -> str:
        nonlocal number
        if not token[0].startswith("("):
            return token[0]
        number += 1
        return f"(?P<g{number}>"

    return f"(?P<g0>{_TOKEN.sub(named, pattern)})"
