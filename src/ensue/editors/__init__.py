"""Answers to editors about rules: pure functions of a text, which may be wrong or not finished.

Lines and columns count from one, as in messages. The language server, the notebook and the playground use them; they
need nothing but the language.
"""

from ensue.editors.colours import Coloured, tokens
from ensue.editors.completion import Completion, completions
from ensue.editors.definition import definition
from ensue.editors.hovering import Hover, hover
from ensue.editors.kinds import STYLES, Kind, Style
from ensue.editors.places import Range
from ensue.editors.problems import Problem, diagnostics, formatted

__all__ = [
    "STYLES",
    "Coloured",
    "Completion",
    "Hover",
    "Kind",
    "Problem",
    "Range",
    "Style",
    "completions",
    "definition",
    "diagnostics",
    "formatted",
    "hover",
    "tokens",
]
