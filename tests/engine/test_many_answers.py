"""Regular expressions over many strings: each is searched once, many at a time."""

import pyarrow as pa
import pytest

import ensue
from ensue import regex
from ensue.engine.many_answers import MOST, ManyAnswers


def test_many_strings_are_asked_about_together(monkeypatch):
    calls = []
    call = regex._call

    def counted(function, texts, pattern):
        calls.append(len(texts))
        return call(function, texts, pattern)

    monkeypatch.setattr(regex, "_call", counted)
    texts = [f"text {i}" for i in range(20_000)]
    program = ensue.compile('event e(s: string).\nfound(s) <- e(s) where matches(s, "7$").')
    table = pa.table({"type": ["e"] * len(texts), "time": range(len(texts)), "s": texts})
    assert program.detect(table)["s"].to_pylist() == [text for text in texts if text.endswith("7")]
    assert len(calls) < 40 and max(calls) <= MOST


def test_answers_are_those_of_single_texts():
    held = ["a", 3, "ab", None, "b", "c", ("a",), "aa"] * 50
    answers = ManyAnswers()
    asked = [(code, pattern) for code in range(len(held)) for pattern in ("a", "b$", "(") if type(held[code]) is str]
    for code, pattern in asked[::3] + asked[::-1]:
        found = answers.answer(regex.search_all, held, code, [pattern])
        assert found == regex.search(held[code], pattern)


def test_many_patterns_from_data_do_not_pile_up():
    answers = ManyAnswers()
    for i in range(1000):
        answers.answer(regex.search_all, ["a", "b"], 0, [f"a{i}"])
    assert len(answers._waiting) <= 64


@pytest.mark.parametrize("text", ["half \ud800", "\ud800"])
def test_text_that_is_no_unicode_gives_null(text):
    assert regex.search_all([text, "half"], "half") == [None, True]
    assert regex.search("half", text) is None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(x)?b(c)", "abc", ("bc", "", "c")),
        ("[^]](\\Q[(\\E)(?<n>c)", "ab[(c", ("b[(c", "[(", "c")),
        ("[[:alpha:](](\\(\\))", "x()", ("x()", "()")),
        ("(?i)A|(b)", "a", ("a", "")),
        ("(a)|(b)", "c", None),
        ("(a", "a", None),
    ],
)
def test_groups(pattern, text, found):
    assert regex.groups(text, pattern) == found


@pytest.mark.parametrize("options", [{"engine": "reference"}, {"compiled": False}, {"compiled": True}])
def test_a_number_matches_nothing_and_is_no_pattern(options):
    """Here values have any type; on Spark, where columns have one, this is an error."""
    program = ensue.compile("found(m = matches(t, r)) <- o(t = t, r = r).")
    for t, r, found in ((3, "3", None), ("3", 3, None), ("3", "3", True)):
        (row,) = program.detect([{"type": "o", "time": 1, "t": t, "r": r}], **options)
        assert row["m"] is found
