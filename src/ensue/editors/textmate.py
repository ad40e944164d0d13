"""The TextMate grammar, for editors that colour text by regular expressions; made of the same records as the rest.

`python -m ensue.editors.textmate` prints it; `editors/vscode` has it as a file, which a test holds equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ensue.editors.completion import ALL_WORDS
from ensue.editors.kinds import STYLES, Kind
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import KEYWORDS, MICROSECONDS
from ensue.language.check.patterns import POLICIES
from ensue.language.functions import FUNCTIONS, TIMERS
from ensue.language.parameters import TYPES
from ensue.language.relations import COMPARISONS

CONSTANTS = frozenset({"true", "false", "null"})
NAME = r"(?:[^\W\d]\w*|`[^`\n]+`)"


def _words(words: Iterable[str]) -> str:
    """An expression for one of some words, the longest first."""
    return rf"\b(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})\b"


def _pattern(kind: Kind, match: str) -> dict[str, str]:
    return {"name": STYLES[kind].scope, "match": match}


def _named(match: str, *kinds: Kind) -> dict[str, Any]:
    """A pattern whose groups have kinds."""
    return {"match": match, "captures": {str(n): {"name": STYLES[kind].scope} for n, kind in enumerate(kinds, 1)}}


def textmate() -> dict[str, Any]:
    """The grammar as its JSON has it. The first pattern that fits a place counts."""
    call = r"(?=\s*\()"
    names_elsewhere = ALL_WORDS - KEYWORDS
    string = _pattern(Kind.STRING, "") | {
        "begin": '"', "end": r'"|$', "patterns": [{"name": "constant.character.escape.ensue", "match": r"\\."}]
    }  # fmt: skip
    del string["match"]
    patterns: list[dict[str, Any]] = [
        _pattern(Kind.COMMENT, r"#.*$"),
        string,
        _pattern(Kind.DURATION, rf"\b(?:\d+(?:\.\d+)?(?:{'|'.join(MICROSECONDS)}))+\b"),
        _pattern(Kind.NUMBER, r"\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b"),
        _named(rf"\b(event)\s+({NAME})", Kind.KEYWORD, Kind.EVENT),
        _named(rf"\b(table)\s+({NAME})", Kind.KEYWORD, Kind.TABLE),
        _named(rf"^\s*(param)\s+({NAME})", Kind.KEYWORD, Kind.PARAMETER),
        _named(rf"\b(rule)\s+({NAME})", Kind.KEYWORD, Kind.RULE),
        _named(rf"\b(unit)\s+({'|'.join(MICROSECONDS)})\b", Kind.KEYWORD, Kind.UNIT),
        _named(rf"\b(policy)\s+({'|'.join(POLICIES)})\b", Kind.KEYWORD, Kind.POLICY),
        _named(rf"\b(do)\s+({NAME}){call}", Kind.KEYWORD, Kind.ACTION),
        _named(rf":\s*({_words(TYPES)})(?!\s*\()", Kind.TYPE),
        _pattern(Kind.AGGREGATE, _words(AGGREGATES) + call),
        _pattern(Kind.TIMER, _words(TIMERS) + call),
        _pattern(Kind.FUNCTION, _words(FUNCTIONS) + call),
        _named(r":\s*(collect)\b", Kind.KEYWORD),
        _pattern(Kind.CONSTANT, _words(CONSTANTS)),
        _pattern(Kind.RELATION, _words(COMPARISONS)),
        _pattern(Kind.KEYWORD, _words(KEYWORDS - COMPARISONS.keys() - CONSTANTS)),
        _pattern(Kind.KEYWORD, _words(names_elsewhere - {"end"}) + r"(?=\s+[\w\"`(-])"),
        _pattern(Kind.KEYWORD, r"(?<=[\w\")\]]\s)\bend\b"),
        _named(rf"({NAME})(\.)({NAME})", Kind.LABEL, Kind.PUNCTUATION, Kind.ATTRIBUTE),
        _pattern(Kind.EVENT, NAME + call),
        _pattern(Kind.LABEL, NAME + r"(?=\s*:(?!-))"),
        _pattern(Kind.VARIABLE, NAME),
        _pattern(Kind.OPERATOR, r"<-|:-|\.\.|[-+*/%<>=!@]+"),
        _pattern(Kind.PUNCTUATION, r"[(){}\[\],.:]"),
    ]
    return {
        "name": "Ensue",
        "scopeName": "source.ensue",
        "fileTypes": ["ensue"],
        "patterns": patterns,
    }


def written() -> str:
    """The grammar as the text of its file."""
    return json.dumps(textmate(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(written(), end="")
