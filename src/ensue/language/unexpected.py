"""Errors and hints for text that cannot be parsed: an unknown character, a word that does not fit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ensue.language.build import KEYWORDS, token_span
from ensue.language.diagnostics import Report, did_you_mean
from ensue.language.foreign import instead_of
from ensue.language.lalr import Token
from ensue.language.relations import COMPARISONS
from ensue.language.source import Source, Span
from ensue.language.words import SOFT
from ensue.records import dataclass

STATEMENT_WORDS = frozenset({"event", "table", "param", "rule", "test", "unit", "keep", "on"})
"""The words that begin a statement."""

_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}

# --- characters -------------------------------------------------------------------------------------------------------

_INSTEAD = {
    "&": "write `and`", "|": "write `or`", "!": "write `not`, or `!=` for “not equal”", "^": "write `power(x, y)`",
    ";": "a statement ends with a period: `.`", "\\": "a statement goes on over lines by itself",
    "≤": "write `<=`", "≥": "write `>=`", "≠": "write `!=`", "←": "write `<-`", "→": "a rule is `head <- body.`",
    "×": "write `*`", "÷": "write `/`", "–": "write `-`", "—": "write `-`", "−": "write `-`", "…": "write `..`",
    "$": "a parameter has a name of letters, digits and `_`", "?": "a variable is a plain name, as in `order(id)`",
}  # fmt: skip
_QUOTES = "'‘’‚‹›\"“”„«»´"
_ODD = re.compile(r"[^\s\w\"`#()\[\]{},.:@<>=+\-*/%]+")
_QUOTED = re.compile(r"'([^'\n]*)'|[‘‚]([^’\n]*)’|[“„]([^”\n]*)”|«([^»\n]*)»")
_NUMBER = re.compile(r"[\w.]*\w")
_FRACTION = re.compile(r"\.\w+")
_LONG_UNIT = re.compile(r"([\d.]+)(us|ms|s|m|h|d)(?:[a-z]*)", re.IGNORECASE)


def report_unreadable(source: Source, at: int, report: Report) -> int:
    """Reports text at a place where no word or sign begins; returns the position at which to read on."""
    text, sign = source.text, source.text[at]
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    if sign in '"`':
        kind = "string" if sign == '"' else "name in backticks"
        end = at + len(text[at:line_end].rstrip())
        report.error("E003", Span(at, end), f"this {kind} has no end", f"close it with {sign} on the same line")
        return end - 1 if text[end - 1] == "." else line_end  # the period ends the statement
    if sign == ".":
        written = _FRACTION.match(text, at)
        end = written.end() if written else at + 1
        report.error("E007", Span(at, end), "a number has a digit before its point", f"write `0{_short(text[at:end])}`")
        return end
    if sign.isdigit():
        return _report_number(source, at, report)
    quoted = _QUOTED.match(text, at)
    if quoted:
        inside = next(part for part in quoted.groups() if part is not None)
        report.error("E001", Span(*quoted.span()), "write text in straight double quotes", f'write "{_short(inside)}"')
        return quoted.end()
    run = _ODD.match(text, at)
    end = run.end() if run and len(set(run[0])) == 1 else at + 1
    if sign.isprintable():
        leave = "leave it out, or put text in double quotes"
        quote = "write text in straight double quotes" if sign in _QUOTES else leave
        report.error(
            "E001", Span(at, end), f"`{_short(text[at:end])}` is not part of the language", _INSTEAD.get(sign, quote)
        )
    else:
        named = unicodedata.name(sign, "a control character" if ord(sign) < 0xA0 else "no character").lower()
        message = f"there is an invisible character here (U+{ord(sign):04X}, {named})"
        report.error("E001", Span(at, end), message, "delete it")
    return end


def _report_number(source: Source, at: int, report: Report) -> int:
    found = _NUMBER.match(source.text, at)
    end = found.end() if found else at + 1
    written = source.text[at:end]
    long = _LONG_UNIT.fullmatch(written)
    unit = long[2].lower() if long else ""
    if long and re.fullmatch(r"\d+(\.\d+)?", long[1]):
        hint = f"did you mean `{long[1]}{unit}`? Durations are written with us, ms, s, m, h and d"
    else:
        hint = "a number is 12, 1.5 or 2e6, a duration 6h, 1h30m or 250ms; a name begins with a letter"
    report.error("E007", Span(at, end), f"`{_short(written)}` is neither a number nor a duration", hint)
    return end


# --- words and signs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stuck:
    """A statement that could be parsed only in part: its tokens, the one that does not fit, and those that would."""

    tokens: list[Token]
    at: int
    """The index of the token that does not fit; their number where the text ends too early."""
    accepted: set[str]
    new_statement: bool
    """True if that token clearly begins another statement."""
    after_period: bool
    """True if the statement begins right after the period of another one."""

    @property
    def token(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    @property
    def previous(self) -> Token | None:
        return self.tokens[self.at - 1] if self.at > 0 else None

    @property
    def following(self) -> Token | None:
        return self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None

    def takes(self, *kinds: str) -> bool:
        return self.accepted.issuperset(kinds)


def report_unexpected(stuck: Stuck, report: Report) -> None:
    """Reports why a statement cannot be parsed further."""
    token, previous = stuck.token, stuck.previous
    opened = _open_bracket(stuck)
    ended = stuck.new_statement or token is None or (token.type in _BEHIND_BRACKETS and not _is_name(stuck))
    if ended and opened is not None and _CLOSED_BY[opened.value] in _signs(stuck):
        closing = _CLOSED_BY[opened.value]
        report.error("E006", token_span(opened), f"this `{opened.value}` is never closed", f"close it with `{closing}`")
    elif previous is not None and (token is None or stuck.new_statement):
        report.error("E005", token_span(previous), "the statement is not finished here", _expected(stuck))
    elif previous is not None and (blamed := _misread(stuck, previous)) is not None:
        report.error("E002", token_span(previous), *blamed)
    elif token is not None:
        _report_token(stuck, token, opened, report)


def _report_token(stuck: Stuck, token: Token, opened: Token | None, report: Report) -> None:
    word, span = str(token.value), token_span(token)
    if stuck.after_period and stuck.at <= 1:
        span = Span(token_span(stuck.tokens[0]).start - 1, token_span(stuck.tokens[0]).end)
        message = "the period ends the statement here"
        hint = "an attribute follows a name, as in `o.end`; a number has a digit after its point, as in `3.0`"
    elif _is_name(stuck):
        message, hint = _word_as_name(word)
    else:
        early = token.type == "DOT" and stuck.at > 0
        message = "the statement ends too early" if early else f"unexpected `{_short(word)}`"
        hint = _hint(stuck, token, opened)
    report.error("E002", span, message, hint)


_BEHIND_BRACKETS = frozenset(
    {"DOT", "_ARROW", "_IMPLIED", "FROM", "IF", "DO", "EXPECT", "UNTIL", "AT"}
    | {"WHERE", "ON", "WITHIN", "LASTING", "POLICY", "_ONCE", "_AT_"}
)
"""Tokens that occur only where all brackets are closed, or end a pattern."""


def _open_bracket(stuck: Stuck) -> Token | None:
    """The innermost bracket that is still open."""
    opened: list[Token] = []
    for token in stuck.tokens[: stuck.at]:
        if token.value in _CLOSED_BY:
            opened.append(token)
        elif token.value in _CLOSED_BY.values() and opened:
            opened.pop()
    return opened[-1] if opened else None


def _misread(stuck: Stuck, previous: Token) -> tuple[str, str] | None:
    """Error and hint for the previous token, if that is the wrong one."""
    token, word = stuck.token, _short(previous.value)
    if previous.type in ("RELATION", "LAST") and stuck.accepted == {"LPAR"}:
        if previous.type == "LAST" or (token is not None and token.type in _AFTER_NAMES):
            return _word_as_name(word)
        return f"unexpected `{word}`", f"`{word}` joins two patterns, and there is none before it"
    if stuck.at == 1 and previous.type == "NAME" and token is not None and token.type in ("NAME", "STRING", "QUOTED"):
        guess = did_you_mean(previous.value, STATEMENT_WORDS)
        return (f"unexpected `{word}`", guess) if guess else None
    return None


def _word_as_name(word: str) -> tuple[str, str]:
    return f"`{word}` is a word of the language", f"as a name, write it in backticks: `` `{word}` ``"


def _hint(stuck: Stuck, token: Token, opened: Token | None) -> str:
    """Hint for a token that does not fit."""
    word = str(token.value)
    if stuck.at == 0:
        return (
            "a statement begins with a name, or with `event`, `table`, `param`, `rule`, `test`, `unit`, `keep` or `on`"
        )
    after_operand = stuck.takes("AND", "RELATION") or stuck.takes("COMMA", "WHERE")
    if word in _CLOSED_BY.values():
        if opened is None:
            return f"`{word}` closes a bracket that was never opened; leave it out"
        if _CLOSED_BY[opened.value] != word:
            return f"the `{opened.value}` before it is closed by `{_CLOSED_BY[opened.value]}`"
    special = _known_mistake(stuck, token, word, after_operand)
    if special is None:
        special = instead_of(stuck.tokens, stuck.at, list(_words(stuck)))
    if special is not None:
        return special
    guess = did_you_mean(word, _words(stuck)) if token.type in ("NAME", "QUOTED") else None
    if guess is not None:
        return guess
    if after_operand and _begins_operand(token) and stuck.takes("COMMA"):
        return "is a comma or an operator (`seq`, `and`, …) missing before this?"
    if after_operand and _begins_operand(token):
        return "is an operator (`seq`, `and`, `=`, …) missing before this?"
    return _expected(stuck)


_OPERAND = frozenset(
    {"NAME", "QUOTED", "ATTRIBUTE", "STRING", "INT", "FLOAT", "DURATION", "TRUE", "FALSE", "NULL"}
    | {"LPAR", "LSQB", "CONTEXT", "NOT", "LAST", "_CASE"}
)
"""Tokens that can begin an event, a condition or a value."""


_AFTER_NAMES = frozenset({"LPAR", "COLON", "COMMA", "RPAR", "EQUAL", "_ARROW", "_IMPLIED"})


def _is_name(stuck: Stuck) -> bool:
    """True if a word of the language stands where a name is expected, and what follows would fit a name."""
    word, following = stuck.token, stuck.following
    meant = word is not None and word.value in KEYWORDS and stuck.takes("NAME")
    return meant and following is not None and following.type in _AFTER_NAMES


def _begins_operand(token: Token) -> bool:
    return token.type in _OPERAND or token.type == "WHILE"


def _known_mistake(stuck: Stuck, token: Token, word: str, after_operand: bool) -> str | None:
    """Hints for constructs of other languages."""
    match token.type:
        case "COMMA" if stuck.takes("WHERE", "WITHIN"):
            return "`where` and the other suffixes come last: put this item before them, and join conditions with `and`"
        case "COMMA" | "RPAR" if stuck.accepted == {"COLON"} and stuck.tokens[0].type in ("EVENT", "TABLE"):
            return "each attribute is declared with its type, as in `id: int`"
        case "COMPARE" | "EQUAL" if stuck.takes("AND", "PLUS"):
            return "write two comparisons, as in `3 < x and x < 10`"
        case "COMPARE" | "MINUS" | "COLON" if stuck.takes("_ARROW"):
            return "a rule is written `head <- body.`, a static one `head :- body.`"
        case "EQUAL" if stuck.takes("_ARROW"):
            return "write the attributes of a head in parentheses, as in `income(total = a + b) <- …`"
        case "WHILE" if stuck.takes("NAME"):
            return "`while …` is a separate item, after a comma; inside a pattern, write it in parentheses"
        case "IN" if stuck.takes("AND") and stuck.following is not None and stuck.following.type == "NAME":
            return f"one of several values is `x in (1, 2)`; a table is a condition: `{stuck.following.value}(x)`"
        case "IN" if stuck.takes("AND"):
            return "write values in parentheses, `x in (1, 2)`; brackets are for events: `not p in [a, b]`"
        case "NOT" if stuck.takes("_IS") and stuck.following is not None and stuck.following.value == "is":
            return "write `x is not null`"
        case "RPAR" if stuck.at > 1 and stuck.tokens[stuck.at - 2].type == "IN":
            return "write at least one value in the parentheses: `x in (1, 2)`"
        case "NOT" if stuck.takes("AND") and stuck.following is not None and stuck.following.type == "NULL":
            return "write `x is not null`"
        case _ if "NULL" in stuck.accepted and stuck.accepted <= {"NOT", "NULL"}:
            return "`is` tests for null, `x is null` or `x is not null`; values are compared with `=`"
        case _ if stuck.takes("_THEN") and _begins_operand(token):
            return "a value comes after `then`, as in `case when x > 3 then 1 else 2 end`"
        case _ if stuck.takes("_END") and _begins_operand(token):
            return "a `case` goes on with `when … then …` or `else …`, and ends with `end`"
        case "NOT" if stuck.takes("NAME"):
            return "write an absence as `not p in [a, b]`, `a without p` or `while [w]: not p`"
        case "NOT" | "NAME" if stuck.accepted == {"COLON", "_COLON_COLLECT"}:
            return "as in `while [w]: not shipped(id, _)` or `while [w]: collect shipped(id, t)`"
        case "IF" if stuck.takes("WHERE"):
            return "the condition of a rule comes after `where`"
        case "CONTEXT" if stuck.tokens[stuck.at - 1].type == "CONTEXT":
            return "two contexts have a slash between them, the initiator's first: `recent/chronicle`"
        case "PLUS_AFTER" | "STAR_AFTER" if after_operand is False:
            return f"`{word}` repeats the event before it, `a seq p{word} seq b`, or stands between two values"
        case _:
            return None


_SUFFIXES = frozenset({"WHERE", "ON", "WITHIN", "LASTING", "POLICY", "_ONCE", "_AT_"})
_OPERATORS = frozenset(
    {"PLUS", "MINUS", "TIMES", "SLASH", "DIVIDE", "COMPARE", "EQUAL", "PLUS_AFTER", "STAR_AFTER", "LBRACE"}
    | {"AND", "OR", "WITHOUT", "RELATION", "LIKE", "ILIKE", "_BETWEEN", "_IS", "_AMONG", "NOT_BEFORE"}
)
_GROUPS: tuple[tuple[frozenset[str], frozenset[str], tuple[str, ...]], ...] = (
    # Where all of the first are accepted, these words describe all of the second.
    (frozenset({"NAME", "STRING", "INT", "LPAR"}), _OPERAND | {"MINUS", "RELATION"}, ("an event", "a value")),
    (frozenset({"AND", "OR"}), _OPERATORS, ("an operator",)),
    (frozenset({"WHERE", "WITHIN"}), _SUFFIXES, ("`where`", "another suffix")),
    (frozenset({"INT", "DURATION"}), frozenset({"INT", "DURATION", "MINUS"}), ("a number", "a duration")),
    (frozenset({"NAME", "QUOTED"}), frozenset({"NAME", "QUOTED"}), ("a name",)),
)
_SHOWN = {
    "NAME": "a name", "STRING": "a string", "INT": "a number", "COMMA": "a comma", "DOT": "the period",
    "CONTEXT": "a context", "RELATION": "a temporal operator", "COMPARE": "a comparison", "DIVIDE": "`%`",
    "_COLON_COLLECT": "`: collect`", "_ARROW": "`<-`", "_IMPLIED": "`:-`", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`",
    "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`", "COLON": "`:`", "AT": "`@`", "EQUAL": "`=`", "SLASH": "`/`",
    "PLUS": "`+`", "MINUS": "`-`", "TIMES": "`*`", "PLUS_AFTER": "`+`", "STAR_AFTER": "`*`", "__ANON_0": "`..`",
    "_WHEN": "`when`", "_THEN": "`then`", "_ELSE": "`else`", "_END": "`end`", "_AT_": "`at most`",
    "_ONCE": "`once`", "_PER": "`per`", "_MOST": "`most`", "_WITH": "`with`", "ALL": "`all`", "_PARAM": "`param`",
}  # fmt: skip


def _expected(stuck: Stuck) -> str:
    """Short description of the tokens that could stand there."""
    rest = set(stuck.accepted)
    words: list[str] = []
    for needed, said, group in _GROUPS:
        if rest >= needed:
            rest -= said
            words += group
    words += sorted({_SHOWN.get(kind, f"`{kind.lower()}`") for kind in rest})
    words = list(dict.fromkeys(words))
    if not words:
        return "nothing can follow here"
    return "expected " + (words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1])


def _words(stuck: Stuck) -> Iterable[str]:
    """The words of the language that could stand there."""
    words = [kind.lower() for kind in stuck.accepted if kind.lower() in KEYWORDS]
    words += [word for word in sorted(SOFT - {"is"}) if {f"_{word.upper()}", word.upper()} & stuck.accepted]
    if "RELATION" in stuck.accepted and "AND" in stuck.accepted:
        words += COMPARISONS
    if "CONTEXT" in stuck.accepted:
        words += ("recent", "chronicle", "continuous", "cumulative")
    return words


def _signs(stuck: Stuck) -> set[str]:
    closing = {"RPAR": ")", "RSQB": "]", "RBRACE": "}"}
    return {sign for kind, sign in closing.items() if kind in stuck.accepted}


def _short(word: str) -> str:
    return word if len(word) < 40 else word[:40] + "…"
