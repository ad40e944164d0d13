"""Rules in colours wherever Pygments gives them: documents, terminals, notebooks. Its name there is `ensue`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Whitespace, string_to_tokentype

from ensue.editors.colours import tokens
from ensue.editors.kinds import STYLES


class EnsueLexer(Lexer):
    """Rule files of Ensue. Names have the kinds that they have in their statement, not by their form alone."""

    name = "Ensue"
    aliases: ClassVar[list[str]] = ["ensue"]
    filenames: ClassVar[list[str]] = ["*.ensue"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        at = 0
        for each in tokens(text):
            if each.span.start > at:
                yield at, Whitespace, text[at : each.span.start]
            yield each.span.start, string_to_tokentype(STYLES[each.kind].pygments), each.text
            at = each.span.end
        if at < len(text):
            yield at, Whitespace, text[at:]
