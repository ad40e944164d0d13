"""The parser's tables, made by Lark from the grammar: `python -m tests.grammar_tables` writes them."""

import json
from collections import deque
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import _create_unless
from lark.parse_tree_builder import maybe_create_child_filter

import ensue.language.lalr

FOLDER = Path(ensue.language.lalr.__file__).parent
PAGE = FOLDER / "grammar.json"


def made() -> Lark:
    """Lark's own parser of the grammar."""
    text = (FOLDER / "grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", propagate_positions=True)


def tables() -> dict[str, Any]:
    """The tables as `ensue.language.lalr` reads them; states and rules are numbered as they are found."""
    lark = made()
    lexer = lark._build_lexer()
    terminals, unless = _create_unless(lexer.terminals, lexer.g_regex_flags, lexer.re, False)
    table = lark.parser.parser._parse_table
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    states, rules, rows, found = {start: 0}, {}, [], []
    waiting = deque([start])
    while waiting:
        row = {}
        for kind, (action, what) in sorted(table.states[waiting.popleft()].items()):
            if str(action) == "Shift":
                if what not in states:
                    states[what] = len(states)
                    waiting.append(what)
                row[kind] = states[what]
            else:
                row[kind] = -1 - rules.setdefault(what, len(rules))
        if row not in rows:
            rows.append(row)
        found.append(rows.index(row))
    return {
        "scanner": [[terminal.name, terminal.pattern.to_regexp()] for terminal in terminals],
        "words": {
            name: {word.pattern.value: word.name for word in callback.scanner.terminals}
            for name, callback in unless.items()
        },
        "ignored": lark.ignore_tokens,
        "terminals": {terminal.name: terminal.pattern.to_regexp() for terminal in lark.terminals},
        "rules": [_rule(rule) for rule in rules],
        "rows": rows,
        "states": found,
        "start": states[start],
        "end": states[end],
    }


def _rule(rule: Any) -> list[Any]:
    options = rule.options
    filtered = maybe_create_child_filter(rule.expansion, options.keep_all_tokens, False, options.empty_indices)
    kept = [(place, False, 0) for place in range(len(rule.expansion))]
    empty = 0
    if filtered is not None:
        kept, empty = (*filtered.args, 0)[:2]
    name = rule.alias or options.template_source or rule.origin.name
    inlined = bool(options.expand1 and not rule.alias)
    return [rule.origin.name, len(rule.expansion), name, inlined, [[*each, 0][:3] for each in kept], empty]


def text() -> str:
    """The tables as a file, a row or rule on each line."""
    lines = []
    for name, value in tables().items():
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            inner = ",\n  ".join(json.dumps(each, separators=(",", ":")) for each in value)
            lines.append(f' "{name}": [\n  {inner}\n ]')
        else:
            lines.append(f' "{name}": {json.dumps(value, separators=(",", ":"))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
