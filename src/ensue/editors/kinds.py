"""The kinds of words and signs in rules, for colours: each with its name in the systems that editors use."""

from __future__ import annotations

from enum import Enum

from ensue.records import dataclass


@dataclass(frozen=True)
class Style:
    """The name of a kind as a TextMate scope, a Pygments token, and a type of semantic tokens of a language server."""

    scope: str
    pygments: str
    semantic: str | None = None
    """None for signs, which servers leave to grammars."""


class Kind(Enum):
    """A kind of word or sign. The value is its name in plain text, as `tokens` has it in JSON."""

    KEYWORD = "keyword"
    RELATION = "relation"
    """A word that relates events in time: ``before``."""
    CONSTANT = "constant"
    """``true``, ``false``, ``null``."""
    TYPE = "type"
    UNIT = "unit"
    POLICY = "policy"
    EVENT = "event"
    TABLE = "table"
    """A table, or a predicate that static rules derive."""
    RULE = "rule"
    """The name of a rule."""
    FUNCTION = "function"
    AGGREGATE = "aggregate"
    TIMER = "timer"
    ACTION = "action"
    """The function that a reaction calls."""
    PARAMETER = "parameter"
    VARIABLE = "variable"
    LABEL = "label"
    """The name of a matched event or timer: ``o`` in ``o: order(id)``."""
    ATTRIBUTE = "attribute"
    STRING = "string"
    NUMBER = "number"
    DURATION = "duration"
    COMMENT = "comment"
    OPERATOR = "operator"
    PUNCTUATION = "punctuation"
    ERROR = "error"
    """A sign that the language does not have."""


STYLES: dict[Kind, Style] = {
    Kind.KEYWORD: Style("keyword.control.ensue", "Keyword", "keyword"),
    Kind.RELATION: Style("keyword.operator.word.ensue", "Operator.Word", "operator"),
    Kind.CONSTANT: Style("constant.language.ensue", "Keyword.Constant", "keyword"),
    Kind.TYPE: Style("storage.type.ensue", "Keyword.Type", "type"),
    Kind.UNIT: Style("constant.other.unit.ensue", "Keyword.Type", "type"),
    Kind.POLICY: Style("constant.other.policy.ensue", "Keyword.Constant", "enumMember"),
    Kind.EVENT: Style("entity.name.type.event.ensue", "Name.Class", "class"),
    Kind.TABLE: Style("entity.name.type.table.ensue", "Name.Namespace", "struct"),
    Kind.RULE: Style("entity.name.tag.rule.ensue", "Name.Label", "namespace"),
    Kind.FUNCTION: Style("support.function.ensue", "Name.Function", "function"),
    Kind.AGGREGATE: Style("support.function.aggregate.ensue", "Name.Builtin", "function"),
    Kind.TIMER: Style("support.function.timer.ensue", "Name.Function.Magic", "function"),
    Kind.ACTION: Style("entity.name.function.action.ensue", "Name.Function", "method"),
    Kind.PARAMETER: Style("variable.other.constant.ensue", "Name.Constant", "parameter"),
    Kind.VARIABLE: Style("variable.other.ensue", "Name.Variable", "variable"),
    Kind.LABEL: Style("variable.other.label.ensue", "Name.Variable.Instance", "variable"),
    Kind.ATTRIBUTE: Style("variable.other.property.ensue", "Name.Attribute", "property"),
    Kind.STRING: Style("string.quoted.double.ensue", "String.Double", "string"),
    Kind.NUMBER: Style("constant.numeric.ensue", "Number", "number"),
    Kind.DURATION: Style("constant.numeric.duration.ensue", "Number", "number"),
    Kind.COMMENT: Style("comment.line.number-sign.ensue", "Comment.Single", "comment"),
    Kind.OPERATOR: Style("keyword.operator.ensue", "Operator", "operator"),
    Kind.PUNCTUATION: Style("punctuation.ensue", "Punctuation"),
    Kind.ERROR: Style("invalid.illegal.ensue", "Error"),
}
