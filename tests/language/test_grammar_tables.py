"""The parser reads as Lark does, whose tables it has."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.exceptions import UnexpectedToken

from ensue.language.lalr import Parser, Token, Tree, UnexpectedTokenError, grammar
from ensue.language.parse import read_tokens
from ensue.language.source import Source
from tests import grammar_tables
from tests.language.rule_files import RULE_FILES

CASES = Path(__file__).parent.parent / "cases"

made = cache(grammar_tables.made)


def test_the_tables_are_those_of_the_grammar() -> None:
    assert grammar_tables.PAGE.read_text(encoding="utf-8") == grammar_tables.text(), (
        "the grammar has changed: run python -m tests.grammar_tables"
    )


def plain(tree: Any) -> Any:
    """A tree of either parser as plain data, with its places."""
    match tree:
        case lark.Token() | Token():
            return tree.type, str(tree), tree.start_pos, tree.end_pos
        case lark.Tree():
            place = () if tree.meta.empty else (tree.meta.start_pos, tree.meta.end_pos)
            return str(tree.data), place, list(map(plain, tree.children))
        case Tree():
            place = () if tree.start_pos is None else (tree.start_pos, tree.end_pos)
            return tree.name, place, list(map(plain, tree.children))
    return tree


def theirs(tokens: list[Token]) -> Iterator[Any]:
    parser = made().parse_interactive()
    for token in tokens:
        yield parser.accepts()
        try:
            parser.feed_token(lark.Token(token.type, str(token), token.start_pos, 1, 1, 1, 1, token.end_pos))
        except UnexpectedToken:
            yield "stuck", parser.accepts()
            return
    yield parser.accepts()
    if tokens[-1].type == "DOT":
        yield plain(parser.feed_eof())


def ours(tokens: list[Token]) -> Iterator[Any]:
    parser = Parser(grammar())
    for token in tokens:
        yield parser.accepts()
        try:
            parser.feed(token)
        except UnexpectedTokenError:
            yield "stuck", parser.accepts()
            return
    yield parser.accepts()
    if tokens[-1].type == "DOT":
        yield plain(parser.feed_end())


@pytest.mark.parametrize("name", RULE_FILES)
def test_texts_are_read_as_by_lark(name: str) -> None:
    for tokens in read_tokens(Source(RULE_FILES[name])):
        assert list(ours(tokens)) == list(theirs(tokens))


@pytest.mark.parametrize("name", RULE_FILES)
def test_wrong_texts_are_refused_as_by_lark(name: str) -> None:
    for tokens in read_tokens(Source(RULE_FILES[name])):
        for left_out in range(0, len(tokens) - 1, 5):
            rest = tokens[:left_out] + tokens[left_out + 1 :]
            assert list(ours(rest)) == list(theirs(rest))


def test_the_tokens_of_all_cases_are_those_of_lark() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(CASES.rglob("*.ensue"))]
    assert texts
    for text in texts:
        assert [plain(token) for token in grammar().lex(text)] == [plain(token) for token in made().lex(text)]
