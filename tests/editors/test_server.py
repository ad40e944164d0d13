"""The language server as a client drives it: a process, and messages on its standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

URI = "file:///shop.ensue"
RULES = """\
event order(id: int, café: string).
event shipped(id: int).
late(id) <- o: order(id, "😋"), w: extend(o, 6), while [w]: not shipped(id).
"""


class Client:
    """An editor: it sends requests, and keeps the server's notifications."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "ensue", "lsp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.told: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            assert self.process.poll() is None or line, "the server has ended"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            self.told.append(message)

    def tell(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def diagnostics(self) -> list[dict[str, Any]]:
        """Those that are published next."""
        while True:
            message = self.told.pop(0) if self.told else self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                found: list[dict[str, Any]] = message["params"]["diagnostics"]
                return found

    def end(self) -> int:
        """Ends the server as editors do; its exit code."""
        self.ask("shutdown")
        self.tell("exit")
        with self.process:
            return self.process.wait(20)

    def at(self, method: str, line: int, character: int) -> Any:
        position = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", textDocument={"uri": URI}, position=position)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    made = Client()
    made.capabilities = made.ask("initialize", processId=None, rootUri=None, capabilities={})["capabilities"]
    made.tell("initialized")
    made.tell(
        "textDocument/didOpen", textDocument={"uri": URI, "languageId": "ensue", "version": 1, "text": RULES}
    )  # fmt: skip
    made.first = made.diagnostics()
    yield made
    assert made.end() == 0


def change(client: Client, text: str) -> list[dict[str, Any]]:
    client.tell("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"text": text}])
    return client.diagnostics()


def test_what_it_can_do(client: Client) -> None:
    can = client.capabilities
    assert can["hoverProvider"] and can["definitionProvider"] and can["documentFormattingProvider"]
    assert can["completionProvider"]["triggerCharacters"] == ["."]
    assert "class" in can["semanticTokensProvider"]["legend"]["tokenTypes"]


def test_errors_come_and_go_as_one_types(client: Client) -> None:
    assert client.first == []
    (found,) = change(client, RULES.replace("shipped(id).\nlate", "shipped(id).\nlate").replace("late(id)", "late(x)"))
    assert found["code"] == "E105" and found["severity"] == 1 and found["source"] == "ensue"
    assert found["range"] == {"start": {"line": 2, "character": 5}, "end": {"line": 2, "character": 6}}
    assert found["message"].startswith("the variable `x` is never bound\n")
    assert change(client, RULES) == []


def test_places_count_utf16(client: Client) -> None:
    (found,) = change(client, RULES.replace("while [w]", "while [v]"))
    character = RULES.splitlines()[2].index("[w]") + 2  # the face before it is two units
    assert found["range"]["start"] == {"line": 2, "character": character}
    change(client, RULES)
    place = client.at("definition", 2, character)
    assert place["range"]["start"] == {"line": 2, "character": RULES.splitlines()[2].index("w: extend") + 1}


def test_hover_and_definition(client: Client) -> None:
    shown = client.at("hover", 2, 16)
    assert shown["contents"] == {"kind": "markdown", "value": "```ensue\nevent order(id: int, café: string)\n```"}
    kept = client.at("hover", 2, 1)["contents"]["value"]
    assert "event late(id: int)" in kept and "for 6" in kept
    assert client.at("hover", 2, 9) is None
    assert client.at("definition", 2, 16)["range"]["start"] == {"line": 0, "character": 6}


def test_completion(client: Client) -> None:
    change(client, RULES + "a(i) <- o: order(i, c) where o.")
    found = client.at("completion", 3, 31)["items"]
    assert [each["label"] for each in sorted(found, key=lambda each: each["sortText"])] == [
        "id", "café", "start", "end",
    ]  # fmt: skip
    change(client, RULES + "a(i) <- order(i, c) wh")
    (item,) = client.at("completion", 3, 22)["items"]
    assert item["label"] == "where" and item["textEdit"]["range"]["start"] == {"line": 3, "character": 20}
    change(client, RULES)


def test_formatting(client: Client) -> None:
    change(client, "event a( ).\nb()<-a( ).")
    options = {"tabSize": 4, "insertSpaces": True}
    (edit,) = client.ask("textDocument/formatting", textDocument={"uri": URI}, options=options)
    assert edit["newText"] == "event a().\nb() <- a().\n"
    assert edit["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 10}}
    change(client, "b() <- a(")
    assert client.ask("textDocument/formatting", textDocument={"uri": URI}, options=options) is None
    change(client, RULES)


def test_colours(client: Client) -> None:
    data = client.ask("textDocument/semanticTokens/full", textDocument={"uri": URI})["data"]
    legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    assert len(data) % 5 == 0
    assert [legend[kind] for kind in data[3 : 6 * 5 : 5]] == [
        "keyword",
        "class",
        "property",
        "type",
        "property",
        "type",
    ]
    assert data[:10] == [0, 0, 5, legend.index("keyword"), 0, 0, 6, 5, legend.index("class"), 0]


def test_functions_are_known(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def weight(x: int) -> int:\n    return x\n")
    client = Client("--functions", str(tmp_path / "own.py"))
    client.ask("initialize", processId=None, rootUri=None, capabilities={})
    text = "event a(x: int).\nb(x) <- a(x) where weight(x) > 3."
    client.tell("textDocument/didOpen", textDocument={"uri": URI, "languageId": "ensue", "version": 1, "text": text})
    assert client.diagnostics() == []
    assert client.end() == 0
