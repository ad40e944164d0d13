"""The language server: answers editors over the Language Server Protocol on standard input and output.

It needs the extra `lsp` (pygls). Positions of the protocol count from zero, in units that client and server agree upon;
everything else of the package counts characters from one, and is translated here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from ensue.editors import Kind, Range, completions, definition, diagnostics, formatted, hover, tokens
from ensue.editors.kinds import STYLES
from ensue.editors.text import Functions

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}  # fmt: skip
_KINDS = {
    Kind.KEYWORD: lsp.CompletionItemKind.Keyword, Kind.RELATION: lsp.CompletionItemKind.Operator,
    Kind.CONSTANT: lsp.CompletionItemKind.Value, Kind.TYPE: lsp.CompletionItemKind.TypeParameter,
    Kind.UNIT: lsp.CompletionItemKind.Unit, Kind.DURATION: lsp.CompletionItemKind.Unit,
    Kind.POLICY: lsp.CompletionItemKind.EnumMember, Kind.EVENT: lsp.CompletionItemKind.Class,
    Kind.TABLE: lsp.CompletionItemKind.Struct, Kind.FUNCTION: lsp.CompletionItemKind.Function,
    Kind.AGGREGATE: lsp.CompletionItemKind.Function, Kind.TIMER: lsp.CompletionItemKind.Function,
    Kind.PARAMETER: lsp.CompletionItemKind.Constant, Kind.VARIABLE: lsp.CompletionItemKind.Variable,
    Kind.LABEL: lsp.CompletionItemKind.Variable, Kind.ATTRIBUTE: lsp.CompletionItemKind.Field,
}  # fmt: skip
_SEMANTIC = tuple(dict.fromkeys(style.semantic for style in STYLES.values() if style.semantic is not None))
_LEGEND = lsp.SemanticTokensLegend(token_types=_SEMANTIC, token_modifiers=())


def _place(document: TextDocument, position: lsp.Position) -> tuple[str, int, int]:
    """A text, and a line and a column in it."""
    text = document.source
    lines = text.split("\n")
    found = document.position_codec.position_from_client_units(lines, position)
    return text, found.line + 1, found.character + 1


def _range(document: TextDocument, lines: Sequence[str], place: Range) -> lsp.Range:
    return lsp.Range(
        _position(document, lines, place.line, place.column),
        _position(document, lines, place.end_line, place.end_column),
    )


def _position(document: TextDocument, lines: Sequence[str], line: int, column: int) -> lsp.Position:
    before = lines[line - 1][: column - 1]
    return lsp.Position(line - 1, document.position_codec.client_num_units(before))


def server(version: str, functions: Functions = None) -> LanguageServer:
    """A server that is not started yet; `functions` are those that rules call, as for `ensue.compile`."""
    made = LanguageServer("ensue", version)

    def document_of(uri: str) -> TextDocument:
        return made.workspace.get_text_document(uri)

    def publish(uri: str) -> None:
        document = document_of(uri)
        lines = document.source.split("\n")
        found = [
            lsp.Diagnostic(
                _range(document, lines, each.range),
                each.message if each.hint is None else f"{each.message}\n{each.hint}",
                severity=_SEVERITIES[each.severity], code=each.code, source="ensue",
            )
            for each in diagnostics(document.source, uri, functions=functions)
        ]  # fmt: skip
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, document.version))

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        document = document_of(params.text_document.uri)
        found = hover(*_place(document, params.position), functions=functions)
        if found is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.markdown)
        return lsp.Hover(content, _range(document, document.source.split("\n"), found.range))

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> lsp.Location | None:
        document = document_of(params.text_document.uri)
        found = definition(*_place(document, params.position), functions=functions)
        if found is None:
            return None
        return lsp.Location(params.text_document.uri, _range(document, document.source.split("\n"), found))

    @made.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        document = document_of(params.text_document.uri)
        lines = document.source.split("\n")
        found = completions(*_place(document, params.position), functions=functions)
        items = [
            lsp.CompletionItem(
                each.text, kind=_KINDS[each.kind], detail=each.detail or None, documentation=each.sentence or None,
                sort_text=f"{number:05}", text_edit=lsp.TextEdit(_range(document, lines, each.replaces), each.text),
            )
            for number, each in enumerate(found)
        ]  # fmt: skip
        return lsp.CompletionList(is_incomplete=False, items=items)

    @made.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def format_document(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document = document_of(params.text_document.uri)
        written = formatted(document.source)
        if written is None or written == document.source:
            return None
        lines = document.source.split("\n")
        end = _position(document, lines, len(lines), len(lines[-1]) + 1)
        return [lsp.TextEdit(lsp.Range(lsp.Position(0, 0), end), written)]

    @made.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(_semantic(document_of(params.text_document.uri), functions))

    return made


def _semantic(document: TextDocument, functions: Functions) -> list[int]:
    """Kinds of words as the protocol sends them: each with its distance from the one before."""
    lines = document.source.split("\n")
    units: Callable[[str], int] = document.position_codec.client_num_units
    data: list[int] = []
    line = start = 0
    for each in tokens(document.source, functions=functions):
        semantic = STYLES[each.kind].semantic
        if semantic is None:
            continue
        row, column = each.range.line - 1, units(lines[each.range.line - 1][: each.range.column - 1])
        data += [row - line, column - start if row == line else column, units(each.text), _SEMANTIC.index(semantic), 0]
        line, start = row, column
    return data
