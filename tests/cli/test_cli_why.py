"""`ensue why`: answers for people and for programs, and questions that make no sense."""

import json

RULES = """
unit s.
event order(id: int, qty: int).
event shipped(id: int).
overdue(id) <- o: order(id, q), w: extend(o, 6h), while [w]: not shipped(id), q < 10.
done(id) <- order(id, _) seq shipped(id).
"""
EVENTS = """
{"type": "order", "time": 3, "id": 42, "qty": 2}
{"type": "order", "time": 4, "id": 7, "qty": 2}
{"type": "shipped", "time": 9, "id": 7}
{"type": "order", "time": "x", "id": 9, "qty": 2}
{"type": "order", "time": 90000, "id": 8, "qty": 2}
"""


def asked(ensue, folder, *arguments):
    (folder / "shop.ensue").write_text(RULES)
    (folder / "events.jsonl").write_text(EVENTS.lstrip())
    return ensue("why", "shop.ensue", "events.jsonl", *arguments)


def test_a_detection(ensue, folder):
    result = asked(ensue, folder, "overdue", "id=42")
    assert result.exit_code == 0
    assert result.stdout.startswith("overdue(id=42) @ 3 – 21603\n  rule for overdue (shop.ensue:5)\n")


def test_what_was_not_detected(ensue, folder):
    result = asked(ensue, folder, "overdue", "id=7")
    assert result.exit_code == 0
    assert "✗ shipped(id=7) @ 9 came in [w], 4 – 21604" in result.stdout
    assert "1 row was left out" in result.stdout
    assert "events.jsonl:4" in result.stdout


def test_json(ensue, folder):
    found = json.loads(asked(ensue, folder, "overdue", "id=7", "--json").stdout)
    assert not found["detected"]
    (tried,) = found["missing"]["rules"]
    assert tried["rule"]["line"] == 5
    assert [stop["kind"] for stop in tried["attempts"][0]["stops"]] == ["absence"]


def test_a_type_alone_and_a_limit(ensue, folder):
    result = asked(ensue, folder, "overdue", "--limit", "1", "--until", "40h")
    assert "overdue(id=42)" in result.stdout
    assert "… and 1 more" in result.stdout


def test_questions_that_make_no_sense(ensue, folder):
    result = asked(ensue, folder, "overdu", "id=7")
    assert (result.exit_code, "Did you mean 'overdue'?" in result.stderr) == (2, True)
    result = asked(ensue, folder, "overdue", "ids=7")
    assert (result.exit_code, "Did you mean 'id'?" in result.stderr) == (2, True)
    result = asked(ensue, folder, "overdue", "id=seven")
    assert (result.exit_code, "type int" in result.stderr) == (2, True)
    result = asked(ensue, folder, "overdue", "42")
    assert (result.exit_code, "write KEY=VALUE" in result.stderr) == (2, True)
    result = asked(ensue, folder, "id=7")
    assert (result.exit_code, "'done'" in result.stderr) == (2, True)
