"""Printed rules parse to the same tree; formatting a file loses nothing, and formatting it again changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ensue.language import syntax
from ensue.language.build import KEYWORDS, LARGEST
from ensue.language.diagnostics import Report, RuleError
from ensue.language.format import WIDTH, format_text
from ensue.language.parse import parse
from ensue.language.print import show
from ensue.language.source import Source
from tests.language.language_snippets import SNIPPETS

RELATIONS = (
    "seq", "par", "before", "after", "meets", "met_by", "overlaps", "overlapped_by", "starts", "started_by", "during",
    "contains", "finishes", "finished_by", "equals",
)  # fmt: skip
CASES = sorted(Path(__file__).parents[1].joinpath("cases").rglob("*.ensue"))
many = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def statements(text: str) -> tuple[syntax.Statement, ...]:
    source = Source(text)
    report = Report(source)
    found = parse(source, report).statements
    assert not report.found, f"{text}\n{next(iter(report.found))}"
    return found


def pattern(text: str) -> syntax.Item:
    (rule,) = statements(f"a() <- {text}.")
    assert isinstance(rule, syntax.EventRule)
    return rule.body.items[0]


# --- random trees, as the parser makes them ---------------------------------------------------------------------------

names = st.builds(
    syntax.Name,
    st.one_of(
        st.sampled_from(["a", "b", "x1", "_", "größe", "日本", "x²", "collected", "on_time", "lasting_"]),
        st.sampled_from(sorted(KEYWORDS)),
        st.sampled_from(["case", "when", "then", "else", "end", "is", "like", "ilike", "between", "distinct", "count"]),
        st.sampled_from(["True", "FALSE", "None", "NULL"]),
        st.text(st.characters(exclude_characters="`\n", exclude_categories=["Cs"]), min_size=1, max_size=6),
    ),
)
lengths = st.one_of(
    st.builds(syntax.Amount, st.integers(-LARGEST, LARGEST)),
    st.builds(syntax.Amount, st.integers(-LARGEST, LARGEST), st.just(True)),
    st.builds(
        lambda n, unit: syntax.Amount(n * unit, True), st.integers(-99, 99), st.sampled_from([10**3, 60 * 10**6])
    ),
)
durations = st.builds(syntax.Amount, st.integers(0, LARGEST), st.just(True))
given_lengths = st.one_of(lengths, st.sampled_from(["limit", "wait"]).map(lambda n: syntax.Amount(1, False, n, n)))
floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0) | st.just(0.0)
literals = st.builds(
    syntax.Literal,
    st.one_of(st.integers(-LARGEST - 1, LARGEST), st.integers(-3, 3), floats, st.text(), st.booleans(), st.none()),
)
bounds = st.one_of(
    st.builds(lambda each: syntax.Bound(each, each, True), lengths),
    st.builds(syntax.Bound, st.none() | lengths, st.none() | lengths),
)
contexts = st.sampled_from(["recent", "chronicle", "continuous", "cumulative"])


def tuples(each: st.SearchStrategy, least: int = 0, most: int = 3) -> st.SearchStrategy:
    return st.lists(each, min_size=least, max_size=most).map(tuple)


def is_number(node: syntax.Node) -> bool:
    """True if a minus before it would make it another number."""
    return isinstance(node, syntax.Literal) and type(node.value) in (int, float) and bool(node.value)


def ends_repeated(node: syntax.Node) -> bool:
    """True if it ends with ``p+`` or ``p*``, which a minus or ``do`` would make an addition or a product."""
    return show(node)[-1] in "+*"


def is_needed(group: syntax.Group) -> bool:
    """True if the parser keeps these parentheses."""
    dropped = (syntax.Group, syntax.Call, syntax.Name, syntax.Attribute, syntax.Literal)
    items = group.body.items
    return len(items) > 1 or bool(group.body.suffixes) or not isinstance(items[0], dropped)


LEVELS = (
    ("or",), ("and",), ("not",), ("without",), ("temporal",), ("context",), ("comparison", "words"), ("sum",),
    ("product",), ("negative",), ("repeat",), ("labelled",), ("leaf", "leaf", "call", "case", "group"),
)  # fmt: skip
OR, AND, NOT, WITHOUT, TEMPORAL, CONTEXT, COMPARISON, SUM, PRODUCT, UNARY, REPEAT, LABELLED, PRIMARY = range(13)
leaves = st.one_of(names, literals, durations, st.builds(syntax.Attribute, names, names))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3, level: int = OR) -> syntax.Expression:
    """An expression that binds at least as tightly as a level, so that it needs no parentheses there."""
    kinds = [kind for each in LEVELS[level:] for kind in each] if depth else ["leaf"]

    def inside(tightness: int) -> syntax.Expression:
        return draw(expressions(depth - 1, tightness))

    match draw(st.sampled_from(kinds)):
        case "or":
            return syntax.Or((inside(AND), *draw(tuples(expressions(depth - 1, AND), 1, 2))))
        case "and":
            return syntax.And((inside(NOT), *draw(tuples(expressions(depth - 1, NOT), 1, 2))))
        case "not":
            return syntax.Not(inside(NOT))
        case "without":
            return syntax.Without(inside(WITHOUT), inside(TEMPORAL))
        case "temporal":
            relation = draw(st.sampled_from(RELATIONS))
            return syntax.Temporal(relation, draw(tuples(bounds)), inside(TEMPORAL), inside(CONTEXT))
        case "context":
            return syntax.InContext(draw(contexts), draw(st.none() | contexts), inside(COMPARISON))
        case "comparison":
            operator = draw(st.sampled_from(["=", "=", "!=", "<", "<=", ">", ">="]))
            return syntax.Comparison(operator, inside(SUM), inside(SUM))
        case "words":
            return draw(conditions_of_words(depth - 1))
        case "case":
            operand = draw(st.none() | value_before_word(depth - 1, SUM))
            when = st.builds(syntax.Branch, value_before_word(depth - 1, OR), value_before_word(depth - 1, OR))
            return syntax.Case(operand, draw(tuples(when, 1, 2)), draw(st.none() | value_before_word(depth - 1, OR)))
        case "sum":
            operator, left, right = draw(st.sampled_from("+-")), inside(SUM), inside(PRODUCT)
            return syntax.Arithmetic("+" if ends_repeated(left) else operator, left, right)
        case "product":
            operator = draw(st.sampled_from(["*", "/", "//", "%"]))
            return syntax.Arithmetic(operator, inside(PRODUCT), inside(UNARY))
        case "negative":
            operand = inside(UNARY)
            return operand if is_number(operand) else syntax.Negative(operand)
        case "repeat":
            low, high = draw(st.sampled_from([(0, None), (1, None), (0, 0), (1, 1), (3, 3), (2, 5), (5, 2)]))
            return syntax.Repeat(inside(LABELLED), low, high)
        case "labelled":
            return syntax.Labelled(draw(names), inside(PRIMARY))
        case "call":
            return draw(calls(depth - 1))
        case "group":
            group = syntax.Group(draw(bodies(depth - 1)))
            return group if is_needed(group) else group.body.items[0]
        case _:
            return draw(leaves)


def value_before_word(depth: int, level: int) -> st.SearchStrategy:
    """An expression before a word that is a name elsewhere: a repetition before it would be a sum or a product."""
    return expressions(depth, level).filter(lambda node: not ends_repeated(node))


def conditions_of_words(depth: int) -> st.SearchStrategy:
    operand, each = value_before_word(depth, SUM), expressions(depth, SUM)
    return st.one_of(
        st.builds(syntax.Among, operand, tuples(each, 1), st.booleans()),
        st.builds(syntax.InRange, operand, operand, each, st.booleans()),
        st.builds(syntax.Like, st.sampled_from(["like", "ilike"]), operand, each, st.booleans()),
        st.builds(syntax.IsNull, operand, st.booleans()),
    )


def calls(depth: int = 3) -> st.SearchStrategy:
    lists = st.builds(syntax.ListLiteral, tuples(expressions(max(depth - 1, 0))))
    values = st.one_of(expressions(depth), lists, st.builds(syntax.ListLiteral, tuples(lists)))
    counted = st.builds(syntax.Argument, st.builds(syntax.Distinct, expressions(depth)) | st.just(syntax.Star()))
    called = names | st.sampled_from(["contains", "last"]).map(syntax.Name)
    return st.one_of(
        st.builds(syntax.Call, called, tuples(st.builds(syntax.Argument, values, st.none() | names), most=2)),
        st.builds(syntax.Call, st.just(syntax.Name("count")), counted.map(lambda argument: (argument,))),
    )


ends = st.sampled_from(("", "[]", "[)", "(]", "()"))


def bodies(depth: int = 3) -> st.SearchStrategy:
    each = expressions(depth)
    suffixes = st.one_of(
        st.builds(syntax.On, each), st.builds(syntax.Where, each), st.builds(syntax.Within, given_lengths),
        st.builds(syntax.Lasting, given_lengths), st.builds(syntax.Policy, names),
        st.builds(syntax.Once, tuples(names), given_lengths),
        st.builds(syntax.AtMost, given_lengths, tuples(names), given_lengths),
    )  # fmt: skip
    items = st.one_of(
        each,
        st.builds(syntax.Absence, names, ends, each),
        st.builds(syntax.Collection, names, ends, each),
        st.builds(syntax.Window, st.sampled_from(("last", "each", "gap")), given_lengths, each),
        st.builds(syntax.SinceWindow, each, each),
        st.builds(syntax.NotIn, expressions(depth, NOT), each, each),
    )
    return st.builds(syntax.Body, tuples(items, 1, 2), tuples(suffixes, most=2))


heads = calls(2) | st.builds(syntax.Call, names)
columns = tuples(st.builds(syntax.Column, names, names), most=8)
points = st.builds(syntax.Point, lengths | st.builds(syntax.Literal, st.text(max_size=9)))
occurrences = st.one_of(
    st.builds(syntax.Occurrence, heads, points, points),
    st.builds(lambda call, point: syntax.Occurrence(call, point, point), heads, points),
)
values = expressions(2) | st.builds(syntax.ListLiteral, tuples(expressions(1)))
settings_ = tuples(st.builds(syntax.Setting, names, values), 1)
named_rules = st.one_of(
    st.tuples(st.none() | names, st.none()),
    st.tuples(names, st.builds(syntax.About, st.text(), st.just(()) | settings_)),
    st.tuples(names, st.builds(syntax.About, st.none(), settings_)),
)
kinds = {
    "parameter": st.builds(
        syntax.ParameterDeclaration, names, names, st.none() | values.filter(lambda node: not ends_repeated(node))
    ),
    "unit": st.builds(syntax.Unit, names),
    "event": st.builds(syntax.EventDeclaration, names, columns, st.booleans()),
    "table": st.builds(syntax.TableDeclaration, names, columns),
    "fact": st.builds(syntax.Fact, calls()),
    "event rule": st.builds(
        lambda head, body, named, beginning, each: syntax.EventRule(head, body, named[0], beginning, named[1], each),
        heads, bodies(), named_rules, st.none() | names, st.booleans(),
    ),
    "static rule": st.builds(
        lambda head, body, named: syntax.StaticRule(head, body, *named), heads, bodies(), named_rules
    ),
    "test": st.builds(
        syntax.Test, st.text(), tuples(occurrences), st.none() | points,
        tuples(occurrences | st.builds(syntax.Nothing, names), 1),
        st.just(()) | settings_.filter(lambda each: not ends_repeated(each[-1].value)),
    ),
    "reaction": st.builds(
        syntax.Reaction, heads, st.none() | expressions().filter(lambda node: not ends_repeated(node)), calls()
    ),
}  # fmt: skip
trees = st.one_of(*kinds.values())


@pytest.mark.parametrize("kind", kinds)
def test_a_printed_statement_parses_to_the_same_tree(kind: str) -> None:
    @many
    @given(kinds[kind])
    def check(tree: syntax.Statement) -> None:
        shown = show(tree)
        assert "\n" not in shown
        assert statements(shown) == (tree,)
        assert statements(format_text(shown)) == (tree,)

    check()


# --- single signs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("((a))", "a"),
        ("(a and b)", "(a and b)"),
        ("o: (p(x))", "o: p(x)"),
        ("o:(-3)", "o: (-3)"),
        ("x < -3", "x < -3"),
        ("x == 3 and y <> 4", "x = 3 and y != 4"),
        ("f(x = y)", "f(x = y)"),
        ("f(x == y and z)", "f(x == y and z)"),
        ("f((x) = y)", "f(x == y)"),
        ("f((x = y))", "f((x = y))"),
        ("f(z = x == y)", "f(z = x = y)"),
        ("f(`a b` == y, a.b == y)", "f(`a b` == y, a.b = y)"),
        ("a + b", "a + b"),
        ("a+ +b", "a+ + b"),
        ("a+ seq b*", "a+ seq b*"),
        ("a* *b", "a* * b"),
        ("a + `contains`(b, c) * 2", "a + `contains`(b, c) * 2"),
        ("a - contains(b, c)", "a - contains(b, c)"),
        ("a + last(b)", "a + last(b)"),
        ("`seq`(x)", "`seq`(x)"),
        ("- - x", "--x"),
        ("--3", "3"),
        ("-0", "-0"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1e16 + 1.50 + 1E-7 + 100000000000000000000.0", "1e+16 + 1.5 + 1e-07 + 1e+20"),
        ("90m + 0ms + 1.5s + 86400s", "90m + 0ms + 1.5s + 86400s"),
        ("p{3,3} seq p{2, 5}", "p{3} seq p{2,5}"),
        ("`x` seq `a b` seq `1`", "x seq `a b` seq `1`"),
        ("o.`instant` = `last`.start", "o.`instant` = `last`.start"),
        (r'"\u00e9\/\n\u0000\ud83d\ude00" = x', r'"é/\n\u0000😀" = x'),
        ("cumulative / chronicle a", "cumulative/chronicle a"),
        ("a before [ .. ] b during[1,..2,3..,-4] c", "a before[..] b during[1, ..2, 3.., -4] c"),
        ("while w :collect d", "while w: collect d"),
        ("while since d : e*: collect a", "while since d: e*: collect a"),
    ],
)
def test_canonical(written: str, shown: str) -> None:
    assert show(pattern(written)) == shown
    assert pattern(shown) == pattern(written)


def test_trees_made_by_hand_get_the_parentheses_they_need() -> None:
    a, b, c = map(syntax.Name, "abc")
    made = syntax.Arithmetic("*", syntax.Arithmetic("+", a, b), syntax.Arithmetic("*", b, c))
    assert show(made) == "(a + b) * (b * c)"
    assert show(syntax.And((syntax.Or((a, b)), syntax.NotIn(a, b, c)))) == "(a or b) and (not a in [b, c])"


def test_every_part_of_a_tree_can_be_shown() -> None:
    waiting: list[syntax.Node] = [statement for text in SNIPPETS for statement in statements(text)]
    while waiting:
        node = waiting.pop()
        assert show(node)
        waiting.extend(node.children())
    with pytest.raises(TypeError, match="Node is no node of a rule file"):
        show(syntax.Node())


def test_deep_trees() -> None:
    deep = f"a() <- {'(b or ' * 48}c{')' * 48}."
    assert format_text(deep) == "a() <-\n    " + deep.removeprefix("a() <- ") + "\n"
    (added,) = statements(f"a() <- {' + '.join(['b'] * 140)}.")
    assert statements(show(added)) == (added,)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", SNIPPETS + tuple(path.read_text(encoding="utf-8") for path in CASES))
def test_formatting_keeps_the_trees(text: str) -> None:
    formatted = format_text(text)
    assert statements(formatted) == statements(text)
    assert format_text(formatted) == formatted
    assert comments(formatted) == comments(text)
    assert [each for statement in statements(text) for each in statements(show(statement))] == [*statements(text)]


def comments(text: str) -> list[str]:
    lexemes = re.finditer(r'"(?:\\.|[^"\\])*"|`[^`]+`|#[^\n]*', text)
    return [lexeme[0].rstrip() for lexeme in lexemes if lexeme[0].startswith("#")]


remarks = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12).map("#{}".format)
spaces = st.one_of(st.sampled_from([" ", "\n", "\t", "  \n\n  ", "\r\n", "\u00a0"]), remarks.map("{}\n".format))


@st.composite
def files(draw: st.DrawFn) -> str:
    """Statements with spaces, line ends and comments between them and wherever a statement has a space."""
    text = draw(st.sampled_from(["", "\ufeff"]))
    for tree in draw(st.lists(trees, max_size=4)):
        text += "".join(draw(st.lists(spaces, max_size=3)))
        shown = show(tree)
        if draw(st.booleans()):
            shown = re.sub(
                r'"(?:\\.|[^"\\])*"|`[^`]+`| ', lambda part: draw(spaces) if part[0] == " " else part[0], shown
            )
        text += shown + draw(spaces)
    return text + draw(remarks | st.just(""))


@many
@given(files())
def test_formatting_loses_nothing_and_is_done_once(text: str) -> None:
    formatted = format_text(text)
    assert format_text(formatted) == formatted
    assert statements(formatted) == statements(text.removeprefix("\ufeff"))
    assert comments(formatted) == comments(text)
    assert formatted == "" or (formatted.endswith("\n") and not formatted.endswith("\n\n"))
    assert not formatted.startswith("\n")
    assert all(line == line.rstrip() for line in formatted.split("\n"))


LONG = "    given_name(first_name = one, last_name = other),\n"


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("", ""),
        ("\ufeff \r\n\r\n", ""),
        ("# only this", "# only this\n"),
        ("\n\n#  this \n\n\n\n#and that\n\n", "#  this\n\n#and that\n"),
        ("unit s.event a().c(1).  c(2). # two", "unit s.\nevent a().\nc(1).\nc(2).  # two\n"),
        ("# one\nc(1).# two\n  # three\n\n\nc(2).\n# four", "# one\nc(1).  # two\n# three\n\nc(2).\n# four\n"),
        ("c(1).\r\n\r\n\r\nc(2).\r\n", "c(1).\n\nc(2).\n"),
        ("c(1).\n\n\n  a(x)<- # why \r\n\n   b( x ). c(2).", "c(1).\n\n  a(x)<- # why\n\n   b( x ).\nc(2).\n"),
        ('c("# no comment",`#`).', 'c("# no comment", `#`).\n'),
        (
            "rule r: someone(one, other) from x <- given_name(first_name = one, last_name = other), "
            "x: a(), one != other where one = other on x within 90m lasting 3 policy restricted.  # why",
            f"rule r: someone(one, other) from x <-\n{LONG}    x: a(),\n    one != other\n    where one = other\n"
            "    on x\n    within 90m\n    lasting 3\n    policy restricted.  # why\n",
        ),
        (
            f"s(x) :- {'a_static_predicate(x), ' * 4} b(x).",
            "s(x) :-\n" + "    a_static_predicate(x),\n" * 4 + "    b(x).\n",
        ),
        (
            f"event e({'a_rather_long_name: string, ' * 4}x: int) instant.",
            "event e(\n" + "    a_rather_long_name: string,\n" * 4 + "    x: int\n) instant.\n",
        ),
        (
            f"on e(x) if {'a_static_predicate(x) and ' * 4}x > 3 do f(x).",
            f"on e(x)\n    if {'a_static_predicate(x) and ' * 4}x > 3\n    do f(x).\n",
        ),
        ('test "t" expect no a.', 'test "t"\n  expect no a.\n'),
        ('test "t" until 3 expect a @ 3.', 'test "t"\n  until 3\n  expect a() @ 3.\n'),
        (
            'test "t" given b @ [1,1], c(2) @ [1,2] until "2026-01-01" expect a() @ -1m, no b.',
            'test "t"\n  given b() @ 1, c(2) @ [1, 2] until "2026-01-01"\n  expect a() @ -1m, no b.\n',
        ),
        (
            f'test "t" given {", ".join(["an_order(12, 34) @ 56"] * 5)} until 3 '
            f"expect {', '.join(['an_alarm(12, 34) @ [56, 78]'] * 4)}.",
            f'test "t"\n  given {", ".join(["an_order(12, 34) @ 56"] * 4)},\n    an_order(12, 34) @ 56\n  until 3\n'
            f"  expect {', '.join(['an_alarm(12, 34) @ [56, 78]'] * 3)},\n    an_alarm(12, 34) @ [56, 78].\n",
        ),
    ],
)  # fmt: skip
def test_layout(text: str, formatted: str) -> None:
    assert format_text(text) == formatted
    assert format_text(formatted) == formatted


@pytest.mark.parametrize("length", [WIDTH, WIDTH + 1])
def test_a_line_is_broken_only_where_it_is_too_long(length: int) -> None:
    line = "a(x) <- b(x), " + "c" * (length - 15) + "."
    assert format_text(line).count("\n") == (1 if length == WIDTH else 3)
    title = 'test "t"\n  given '
    given = "a(x) @ 1, " + "b" * (length - 32) + "() @ 1"
    assert format_text(f"{title}{given} until 3\n expect no c.").count("\n") == (3 if length == WIDTH else 4)


def test_syntax_errors_are_all_raised() -> None:
    with pytest.raises(RuleError) as caught:
        format_text("\ufeffa(x <- b(x).\r\nunit s.\r\nc(x) <- .", "shop.ensue")
    assert [(d.file, d.line, d.column) for d in caught.value.diagnostics] == [
        ("shop.ensue", 1, 2),
        ("shop.ensue", 3, 9),
    ]
