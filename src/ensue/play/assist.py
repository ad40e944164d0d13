"""Answers to the editor while one types: problems and colours, completions, hovering, the text formatted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ensue.editors import Kind, Range, completions, diagnostics, formatted, hover, tokens
from ensue.editors.completion import ALL_WORDS
from ensue.language.aggregates import AGGREGATES
from ensue.language.build import KEYWORDS
from ensue.language.check.patterns import POLICIES
from ensue.language.functions import FUNCTIONS, TIMERS
from ensue.language.relations import COMPARISONS
from ensue.language.types import DECLARED

MOST_PROBLEMS = 200
MOST_COMPLETIONS = 60


def words(message: Mapping[str, Any]) -> dict[str, Any]:
    """The words of the language with their kinds, by which a text is coloured until its own colours have come.

    >>> found = words({})["words"]
    >>> found["before"], found["where"], found["extend"]
    ('relation', 'keyword', 'timer')
    """
    kinds = (
        (ALL_WORDS, Kind.KEYWORD), (DECLARED, Kind.TYPE), (FUNCTIONS, Kind.FUNCTION), (AGGREGATES, Kind.AGGREGATE),
        (TIMERS, Kind.TIMER), (POLICIES, Kind.POLICY), (KEYWORDS, Kind.KEYWORD), (COMPARISONS, Kind.RELATION),
        (("true", "false", "null"), Kind.CONSTANT),
    )  # fmt: skip
    return {"words": {word: kind.value for names, kind in kinds for word in names}}


def check(message: Mapping[str, Any]) -> dict[str, Any]:
    """Problems, and the words of the text with their kinds, by their places in it."""
    rules = message["rules"]
    problems = diagnostics(rules)
    return {
        "problems": [
            {
                "severity": each.severity,
                "code": each.code,
                "message": each.message,
                "hint": each.hint,
                **asdict(each.range),
            }
            for each in problems[:MOST_PROBLEMS]
        ],
        "more": max(0, len(problems) - MOST_PROBLEMS),
        "tokens": [[each.span.start, each.span.end, each.kind.value] for each in tokens(rules)],
    }


def complete(message: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the text at a place."""
    found = completions(message["rules"], message.get("line", 1), message.get("column", 1))
    return {
        "completions": [
            {
                "text": each.text,
                "kind": each.kind.value,
                "detail": each.detail,
                "sentence": each.sentence,
                "replaces": _range(each.replaces),
            }
            for each in found[:MOST_COMPLETIONS]
        ]
    }


def hovered(message: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the name at a place."""
    found = hover(message["rules"], message.get("line", 1), message.get("column", 1))
    if found is None:
        return {"hover": None}
    return {"hover": {"code": found.code, "sentences": list(found.sentences), "range": _range(found.range)}}


def format_rules(message: Mapping[str, Any]) -> dict[str, Any]:
    """The rules in their canonical form; None where they cannot be read."""
    return {"formatted": formatted(message["rules"])}


def _range(range_: Range) -> dict[str, int]:
    return asdict(range_)


ANSWERS = {"words": words, "check": check, "complete": complete, "hover": hovered, "format": format_rules}
