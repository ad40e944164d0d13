"""Answers to editors about rules, also about rules that are wrong or not finished."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from ensue.editors import Kind, completions, definition, diagnostics, formatted, hover, tokens
from ensue.editors.completion import ALL_WORDS, words_of_terminals
from ensue.editors.kinds import STYLES
from ensue.language import parse as parsing
from ensue.language.build import KEYWORDS
from ensue.language.functions import FUNCTIONS
from ensue.language.words import TERMINALS

GRAMMAR = Path(parsing.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
CASES = sorted((Path(__file__).parent.parent / "cases").rglob("*.ensue"))

SHOP = """\
unit s.
param limit: int = 3.
event order(id: int, product: string, qty: int).
event shipped(id: int, tracking: string) instant.
table vip(id: int).
vip(7).

rule late "Not shipped in time": overdue(id, product) <-
    o: order(id, product, n), w: extend(o, 6h), while [w]: not shipped(id, _), n > limit.
daily(product, total = sum(n)) <- while each 1d: collect order(_, product, n).
"""


def at(text: str, mark: str = "|") -> tuple[str, int, int]:
    """A text without its mark, and the line and column of that."""
    before, _, after = text.partition(mark)
    return before + after, before.count("\n") + 1, len(before) - before.rfind("\n")


def completed(text: str) -> list[str]:
    return [each.text for each in completions(*at(SHOP + text))]


def kinds(text: str) -> dict[str, str]:
    return {each.text: each.kind.value for each in tokens(text)}


# --- words are those of the grammar


def test_words_are_those_of_the_grammar() -> None:
    declared = set(" ".join(re.findall(r"%declare (.*)", GRAMMAR)).split())
    assert declared == set(TERMINALS)
    assert {word for words in words_of_terminals().values() for word in words} | {"collect"} == set(ALL_WORDS)
    assert KEYWORDS <= ALL_WORDS


def test_every_kind_has_a_style() -> None:
    assert set(STYLES) == set(Kind)


# --- diagnostics


def test_diagnostics_have_ranges_and_hints() -> None:
    found = next(each for each in diagnostics("event order(id: int).\nbig(i) <- order(i) wher i > 3.") if each.hint)
    assert (found.severity, found.range.line, found.range.column) == ("error", 2, 20)
    assert found.hint is not None and "where" in found.hint


def test_notes_come_where_nothing_is_wrong() -> None:
    rules = "event a(k: int). event b(k: int).\nc(k) <- a(k) seq b(k)."
    assert [each.code for each in diagnostics(rules) if each.severity == "note"] == ["W003"]
    assert {each.severity for each in diagnostics(rules + " d(x) <- a(k).")} == {"error"}


# --- completion


def test_statements_begin_with_their_words_and_events() -> None:
    found = completed("|")
    assert {"event", "table", "param", "rule", "test", "unit", "keep", "on", "order", "overdue"} <= set(found)
    assert not {"where", "within", "and", "lower"} & set(found)


def test_words_fit_where_they_stand() -> None:
    assert {"where", "within", "seq", "once", "policy"} <= set(completed("a(i) <- order(i, p, q) |"))
    assert "event" not in completed("a(i) <- order(i, p, q) |")
    assert completed("a(i) <- order(i, p, q) wit|") == ["within", "without"]
    assert {"last", "each", "gap", "since", "o"} <= set(completed("a(i) <- o: order(i, p, q), while |"))
    assert completed("a(i) <- o: order(i, p, q), while o: |") == ["collect", "not"]
    assert completed("a(i) <- while last 5m|")[:1] == []
    assert completed("a(i) <- while last 5m |") == [": collect"]


def test_names_of_the_statement_come_first() -> None:
    found = completed("a(i) <- o: order(i, p, q), |")
    assert found[:4] == ["i", "p", "q", "o"]
    assert {"shipped", "extend", "lower", "count", "vip", "limit"} <= set(found)
    assert completed("a(|) <- o: order(i, p, q).")[:4] == ["i", "p", "q", "o"]


def test_attributes_of_what_is_matched() -> None:
    assert completed("a(i) <- o: order(i, p, q) where o.|") == ["id", "product", "qty", "start", "end"]
    assert completed("a(i) <- order(|")[:3] == ["id", "product", "qty"]
    assert completed("a(o.|) <- o: order(i, p, q).") == ["id", "product", "qty", "start", "end"]
    assert completed("a(i) <- order(i, p, q).|") == []


def test_types_units_and_policies() -> None:
    assert completed("event a(x: |") == ["int", "float", "string", "bool", "timestamp"]
    assert completed("param a: d|") == ["duration"]
    assert completed("unit |") == ["us", "ms", "s", "m", "h", "d"]
    assert completed("a(i) <- order(i, p, q) within 5|") == ["5us", "5ms", "5s", "5m", "5h", "5d"]
    assert "restricted" in completed("a(i) <- order(i, p, q) policy |")


def test_functions_have_a_signature_and_a_sentence() -> None:
    (found,) = (each for each in completions(*at(SHOP + "a(i) <- order(i, p, q), subst|")) if each.text == "substring")
    assert found.detail == "substring(string, int[, int]): string"
    assert found.sentence == FUNCTIONS["substring"].text
    assert (found.replaces.column, found.replaces.end_column) == (25, 30)


def test_nothing_is_proposed_in_comments_and_strings() -> None:
    assert completed("# a|") == [] == completed('a(i) <- order(i, "a|')


def test_a_statement_with_a_mistake_hides_nothing_of_the_others() -> None:
    assert {"overdue", "shipped"} <= set(completed("b(i) <- order(i\na(i) <- |"))
    assert "next" in completed("a(i) <- order(i, p, q), |\nnext(x) <- shipped(x, _).")


def test_functions_that_are_handed_over() -> None:
    def weight(product: str) -> float:
        return 1.0

    text, line, column = at(SHOP + "a(i) <- order(i, p, q) where weig|")
    assert [each.text for each in completions(text, line, column, functions={"weight": weight})] == ["weight"]


# --- hover and definition


def test_hover_says_types_and_declarations() -> None:
    def code(text: str) -> str | None:
        found = hover(*at(text))
        return None if found is None else found.code

    assert code(SHOP + "a(i) <- o: ord|er(i, p, q).") == "event order(id: int, product: string, qty: int)"
    assert code(SHOP + "a(i) <- order(i, p, q), q|> 3.") == "q: int"
    assert code(SHOP + "a(i) <- o: order(i, p, q), o.pro|duct = p.") == "product: string"
    assert code(SHOP + "a(i) <- o: order(i, p, q), |o.product = p.") == (
        "o: event order(id: int, product: string, qty: int)"
    )
    assert code(SHOP + "a(i) <- order(i, p, q), q > li|mit.") == "param limit: int = 3"
    assert code(SHOP + "a(i) <- order(i, p, q), lo|wer(p) = p.") == "lower(string): string"
    assert code(SHOP + "a(i) <- order(i, p, q), vi|p(i).") == "table vip(id: int)"
    assert code(SHOP + "a(i) <- order(i, p, q) wh|ere q > 3.") is None
    assert code(SHOP + "a(i) <- order(i, p, q), q|> .") == "q: int"  # with a mistake in the statement


def test_hover_says_what_a_rule_keeps() -> None:
    found = hover(*at(SHOP.replace("overdue", "over|due")))
    assert found is not None
    assert found.code == "event overdue(id: int, product: string)"
    assert found.sentences[0] == "Not shipped in time"
    assert any("6h" in sentence for sentence in found.sentences)
    assert found.markdown.startswith("```ensue\nevent overdue")
    forever = hover(*at(SHOP + "ab|c(i) <- order(i, _, _) seq shipped(i, _)."))
    assert forever is not None and any("to bound it" in sentence for sentence in forever.sentences)


def test_definition_of_each_kind_of_name() -> None:
    def place(text: str) -> str | None:
        plain, line, column = at(text)
        found = definition(plain, line, column)
        if found is None:
            return None
        return f"{found.line}:{plain.splitlines()[found.line - 1][found.column - 1 : found.end_column - 1]}"

    assert place(SHOP + "a(i) <- or|der(i, p, q).") == "3:order"
    assert place(SHOP + "a(i) <- over|due(i, p).") == "8:overdue"
    assert place(SHOP + "a(|i) <- order(i, p, q).") == "11:i"
    assert place(SHOP + "a(i) <- order(i, p, q), x = li|mit.") == "2:limit"
    assert place(SHOP + "a(i) <- o: order(i, p, q), o.qt|y > 3.") == "3:qty"
    assert place(SHOP + "a(i) <- o: order(i, p, q), |o.qty > 3.") == "11:o"
    assert place(SHOP + "a(i) <- order(i, p, q), vi|p(i).") == "5:vip"
    assert place(SHOP + "a(i) <- order(i, p, q), low|er(p) = p.") is None


# --- colours


def test_words_that_are_names_elsewhere() -> None:
    assert kinds('a(x) <- b(x) where x like "a%".')["like"] == "keyword"
    assert kinds("event a(like: int).")["like"] == "attribute"
    assert kinds("a(x) <- e: b(x), w: extend(e, 5), while last 3: collect c(x).")["last"] == "keyword"
    assert kinds("a(x, last(y)) <- b(x), while last 3: collect c(x, y).")["collect"] == "keyword"


@pytest.mark.parametrize("path", CASES[::9], ids=lambda path: path.stem)
def test_tokens_are_the_whole_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = tokens(text)
    at = 0
    for each in found:
        assert not text[at : each.span.start].strip()
        assert text[each.span.start : each.span.end] == each.text != ""
        at = each.span.end
    assert not text[at:].strip()
    assert not any(each.kind is Kind.ERROR for each in found)
    assert all(each.kind is Kind.COMMENT for each in found if each.text.startswith("#"))


@pytest.mark.parametrize("seed", range(12))
def test_any_text_is_answered(seed: int) -> None:
    """Texts that are cut off, or have pieces taken out and put elsewhere, as happens while one types."""
    chance = random.Random(seed)
    text = chance.choice(CASES).read_text(encoding="utf-8")[:3000]
    for _ in range(4):
        a, b, c = sorted(chance.randrange(len(text) + 1) for _ in range(3))
        broken = text[:a] + chance.choice(["", "`", '"', "(", "$", ".", "\n", ":", "o."]) + text[b:c]
        lines = broken.split("\n")
        line = chance.randrange(len(lines)) + 1
        column = chance.randrange(len(lines[line - 1]) + 1) + 1
        coloured = tokens(broken)
        spaces = re.compile(r"\s+")
        assert spaces.sub("", "".join(each.text for each in coloured)) == spaces.sub("", broken)
        diagnostics(broken)
        completions(broken, line, column)
        hover(broken, line, column)
        definition(broken, line, column)


def test_no_text_at_all() -> None:
    assert tokens("") == () == diagnostics("")
    assert hover("", 1, 1) is None is definition("", 9, 9)
    assert "event" in [each.text for each in completions("", 1, 1)]


def test_formatted() -> None:
    assert formatted("a(x)<-b(x).") == "a(x) <- b(x).\n"
    assert formatted("a(x <- b(x).") is None
