"""Attributes that are paths, as arguments by name: in `logon(user.id = u)` nothing is compared.

It looks like a comparison to the parser, as in `coalesce(o.qty = 3, false)`. An event takes variables and constants, so
there it names an attribute. In a head, where any expression may stand, such a name needs backticks.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace
from typing import Any

from ensue.language import syntax
from ensue.language.aggregates import AGGREGATES
from ensue.language.functions import FUNCTIONS
from ensue.language.nodes import rebuilt

_NAMED_BY_PATH = re.compile(r"[(,]\s*[\w`][^(),=]*\.[^(),=]*=[^=]")


def with_paths(file: syntax.File, functions: Container[str]) -> syntax.File:
    """The statements with such arguments by name; `functions` are the names of the user's own functions."""
    text = file.source.text
    if not _NAMED_BY_PATH.search(text):
        return file

    def named(node: Any) -> Any:
        if isinstance(node, syntax.Call) and not (
            node.name.text in FUNCTIONS or node.name.text in AGGREGATES or node.name.text in functions
        ):
            return replace(node, arguments=tuple(map(_named, node.arguments)))
        return node

    def statement(node: syntax.Statement) -> syntax.Statement:
        if not _NAMED_BY_PATH.search(text, node.span.start, node.span.end):
            return node
        match node:
            case syntax.EventRule(body=body) | syntax.StaticRule(body=body):
                return replace(node, body=rebuilt(body, named))
            case syntax.Test(given=given, expect=expect):
                return replace(node, given=rebuilt(given, named), expect=rebuilt(expect, named))
            case syntax.Reaction(event=event):
                return replace(node, event=rebuilt(event, named))
        return node

    return replace(file, statements=tuple(map(statement, file.statements)))


def _named(argument: syntax.Argument) -> syntax.Argument:
    match argument:
        case syntax.Argument(
            name=None,
            value=syntax.Comparison(operator="=", left=syntax.Attribute(owner=owner, name=name) as left) as value,
        ):
            path = syntax.Name(f"{owner.text}.{name.text}", span=left.span)
            return replace(argument, value=value.right, name=path)
    return argument
