"""Words that are names as well: `like`, `between`, `is`, `case`, `when`, `then`, `else`, `end`, `in` before values,
`distinct` before a value, `gap` behind `while`, and `param`, `with`, `all`, `once`, `at most` and `per`.

They are read as words only where no name can stand, or where the next tokens leave no other reading, so that events,
attributes and variables may be called like them. In backticks they are always names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ensue.language.lalr import Token

INFIX = frozenset({"like", "ilike", "between", "is"})
"""Words between two compared operands."""
BEFORE_OPERANDS = frozenset({"case", "when", "distinct"})
"""Words that an operand may follow."""
_KINDS = {
    "like": "LIKE", "ilike": "ILIKE", "between": "_BETWEEN", "is": "_IS", "when": "_WHEN", "then": "_THEN",
    "else": "_ELSE", "end": "_END", "with": "_WITH", "once": "_ONCE", "at": "_AT_", "most": "_MOST", "per": "_PER",
}  # fmt: skip
_NAMES = frozenset({"NAME", "QUOTED", "LAST", "RELATION"})
_BEFORE_NAMES = {"param": "_PARAM", "all": "ALL"}
"""Words at the beginning of a statement, or behind the name of a rule, that another name follows."""
SOFT = INFIX | BEFORE_OPERANDS | frozenset(_KINDS)
"""All words that are names elsewhere."""
TERMINALS = {
    **{kind: word for word, kind in (_KINDS | _BEFORE_NAMES).items()},
    "_CASE": "case", "_DISTINCT": "distinct", "GAP": "gap", "NOT_BEFORE": "not", "_AMONG": "in",
}  # fmt: skip
"""The words by the kinds of tokens that they are where they are words."""
_OPERAND_ENDS = frozenset(
    {"NAME", "QUOTED", "ATTRIBUTE", "STRING", "INT", "FLOAT", "DURATION", "TRUE", "FALSE", "NULL", "RPAR", "RBRACE"}
)
_OPERAND_BEGINS = frozenset(
    {"NAME", "QUOTED", "ATTRIBUTE", "STRING", "INT", "FLOAT", "DURATION", "TRUE", "FALSE", "NULL", "LAST"}
)
_IN_VALUES = frozenset(
    _OPERAND_ENDS | {"PLUS", "MINUS", "TIMES", "SLASH", "DIVIDE", "LPAR", "LBRACE", "LAST", "RELATION", "COLON"}
) | {"PLUS_AFTER", "STAR_AFTER"}
"""Tokens that an operand of `case` is made of, brackets aside."""
_AMOUNT = frozenset({"INT", "DURATION", "NAME", "QUOTED", "MINUS"})
"""Tokens that a length of time begins with."""
_OPENING, _CLOSING = frozenset({"LPAR", "LSQB", "LBRACE"}), frozenset({"RPAR", "RSQB", "RBRACE"})


def kind_of(tokens: Sequence[Token], at: int, accepted: Collection[str]) -> str:
    """The kind of a token where the parser takes some kinds: its own, or that of the word that it is there."""
    token = tokens[at]
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    match token.type:
        case "IN" if after is not None and after.type == "LPAR":
            return "_AMONG"
        case "NOT" if "NOT" not in accepted and after is not None and _is_negated(after):
            return "NOT_BEFORE"
        case "NAME" if token.value == "case" and "NAME" in accepted and _begins_case(tokens, at):
            return "_CASE"
        case "NAME" if token.value == "distinct" and _is_distinct(tokens, at):
            return "_DISTINCT"
        case "NAME" if token.value == "when" and at > 0 and "_WHEN" in accepted and "NAME" in accepted:
            return "_WHEN"  # right behind `case`
        case "NAME" if token.value == "gap" and "GAP" in accepted and after is not None and after.type in _AMOUNT:
            return "GAP"
        case "NAME" if token.value in _BEFORE_NAMES and after is not None and after.type in _NAMES:
            if at == 0 or (tokens[0].type == "RULE" and tokens[at - 1].type == "COLON"):
                return _BEFORE_NAMES[str(token.value)] if _BEFORE_NAMES[str(token.value)] in accepted else "NAME"
        case "NAME" if "NAME" not in accepted:
            return _KINDS.get(str(token.value), "NAME")
    return token.type


def _is_negated(token: Token) -> bool:
    return token.type == "IN" or (token.type == "NAME" and token.value in INFIX - {"is"})


def _is_distinct(tokens: Sequence[Token], at: int) -> bool:
    """True if a name `distinct` is the word: it is the first argument of a call, and a value follows it."""
    if at < 2 or at + 1 >= len(tokens) or tokens[at - 1].type != "LPAR":
        return False
    after = tokens[at + 1]
    if after.type in _OPERAND_BEGINS or after.type in ("NOT", "LSQB", "CONTEXT"):
        return not (after.type == "NAME" and after.value in INFIX)
    return tokens[at - 2].value == "count" and after.type in ("LPAR", "MINUS", "RELATION")


def _begins_case(tokens: Sequence[Token], at: int) -> bool:
    """True if a name `case` is the word: an operand follows it, and `when` behind that."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None:
        return False
    if after.type in _OPERAND_BEGINS:
        return not (after.type == "NAME" and after.value in INFIX)
    return after.type in ("LPAR", "MINUS", "RELATION") and _has_branch(tokens, at + 1)


def _has_branch(tokens: Sequence[Token], at: int) -> bool:
    """True if `when` follows values and signs between them, among which may be whole cases."""
    depth = cases = 0
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.type in _OPENING:
            depth += 1
        elif token.type in _CLOSING:
            depth -= 1
        if depth < 0 or (depth == 0 and not cases and token.type not in _IN_VALUES):
            return False
        if depth == 0 and token.type == "NAME" and tokens[index - 1].type in _OPERAND_ENDS:
            if token.value == "end" and cases:
                cases -= 1
            elif token.value == "when" and tokens[index - 1].value == "case":
                cases += 1
            elif token.value == "when" and not cases:
                return True
    return False
