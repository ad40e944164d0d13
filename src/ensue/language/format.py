"""A rule file in its canonical form: statements printed again from their trees, comments where they were."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ensue.language import syntax
from ensue.language.diagnostics import Report, RuleError
from ensue.language.parse import parse
from ensue.language.print import around_columns, before_body, reaction_clauses, show, string
from ensue.language.source import Source

WIDTH = 100
"""Longest line; a longer statement is broken over several."""


def format_text(text: str, name: str = "<rules>") -> str:
    """A rule file in its canonical form, which is the same when formatted again; no comment is lost.

    A statement stands on its own line, or on several where it is longer than `WIDTH`. One with comments inside it stays
    as it is written. A file with syntax errors raises `RuleError`.

    >>> print(format_text("a(x)<-b( x )  where x=1.   # why\\n\\n\\n\\nc(1). c(2)."), end="")
    a(x) <- b(x) where x = 1.  # why
    <BLANKLINE>
    c(1).
    c(2).
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    source = Source(text, name)
    report = Report(source)
    file = parse(source, report)
    if report.failed:
        raise RuleError(report.sorted())
    blocks: list[str] = []
    at = 0
    for statement in file.statements:
        start, end = statement.span
        indent = _add_gap(blocks, text[at:start])
        written = text[start:end]
        blocks.append(_trimmed(indent + written) if _has_comment(written) else "\n".join(_lines(statement)))
        at = end
    _add_gap(blocks, text[at:] + "\n")
    while blocks and not blocks[-1]:
        blocks.pop()
    return "".join(f"{block}\n" for block in blocks)


def _add_gap(blocks: list[str], gap: str) -> str:
    """Adds the comments and blank lines between two statements; returns how far the next one is indented."""
    lines = gap.split("\n")
    indent = lines.pop() if len(lines) > 1 or not blocks else ""
    after = lines.pop(0).strip() if blocks and lines else ""
    if after:
        blocks[-1] += f"  {after}"
    for line in map(str.strip, lines):
        if line or (blocks and blocks[-1]):
            blocks.append(line)
    return indent


def _has_comment(statement: str) -> bool:
    lexemes = re.finditer(r'"(\\.|[^"\\])*"|`[^`]+`|#', statement)
    return any(lexeme[0] == "#" for lexeme in lexemes)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _lines(statement: syntax.Statement) -> Iterator[str]:
    """A statement over as many lines as it needs."""
    if isinstance(statement, syntax.Test):
        yield from _test_lines(statement)
        return
    line = show(statement)
    match statement:
        case syntax.EventRule(body=body) | syntax.StaticRule(body=body) if len(line) > WIDTH:
            yield before_body(statement)
            *parts, last = [*_listed(body.items), *map(show, body.suffixes)]
            yield from (f"    {part}" for part in parts)
            yield f"    {last}."
        case syntax.EventDeclaration() | syntax.TableDeclaration() if len(line) > WIDTH and statement.columns:
            opening, end = around_columns(statement)
            yield opening
            yield from (f"    {column}" for column in _listed(statement.columns))
            yield end
        case syntax.Reaction() if len(line) > WIDTH:
            event, *clauses = reaction_clauses(statement)
            yield event
            yield from (f"    {clause}" for clause in clauses)
        case _:
            yield line


def _test_lines(test: syntax.Test) -> Iterator[str]:
    yield f"test {string(test.title)}"
    yield from _filled("  with", _listed(test.settings)) if test.settings else ()
    given = list(_filled("  given", _listed(test.given))) if test.given else []
    until = "" if test.until is None else f"until {show(test.until)}"
    if until and len(given) == 1 and len(f"{given[0]} {until}") <= WIDTH:
        yield f"{given[0]} {until}"
    else:
        yield from given
        yield from [f"  {until}"] if until else []
    *parts, last = _listed(test.expect)
    yield from _filled("  expect", [*parts, f"{last}."])


def _filled(line: str, parts: Iterable[str]) -> Iterator[str]:
    """Lines with as many parts as fit; `line` begins the first one."""
    for place, part in enumerate(parts):
        if place and len(f"{line} {part}") > WIDTH:
            yield line
            line = f"    {part}"
        else:
            line = f"{line} {part}"
    yield line


def _listed(nodes: Iterable[syntax.Node]) -> Iterator[str]:
    """Each on its own, with a comma if another follows."""
    *first, last = map(show, nodes)
    yield from (f"{each}," for each in first)
    yield last
