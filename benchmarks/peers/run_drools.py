"""Drools (`drools_jpy`, the engine of Ansible's rule books) on the rule that is nearest to the workloads.

    .venv-drools/bin/python -m benchmarks.peers.run_drools events.csv 5000

Its conditions hold for events in any order, a match takes its events, and time is that of the machine's clock: so it
can say none of W1 to W4. The rule here is "an A and a B of one id within ten seconds".
"""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path
from typing import Any


def measured(source: str, events: int) -> dict[str, Any]:
    from drools.ruleset import Ruleset

    with Path(source).open(encoding="utf-8") as file:
        rows = [row for row, _ in zip(csv.DictReader(file), range(2 * events), strict=False)]
    texts = [json.dumps({"type": row["type"], "id": int(row["id"]), "ts": int(row["ts"])}) for row in rows]
    rules = Ruleset("nearest", json.dumps(_rule_set()))
    send, session = rules._api.assertEvent, rules._session_id
    for text in texts[:events]:  # to warm up
        send(session, text)
    began, found = time.process_time(), 0
    for text in texts[events:]:
        found += len(json.loads(send(session, text)))
    return {"cpu": time.process_time() - began, "count": found, "events": len(texts) - events}


def _rule_set() -> dict[str, Any]:
    def equal(left: Any, right: Any) -> dict[str, Any]:
        return {"EqualsExpression": {"lhs": left, "rhs": right}}

    def bound(name: str, condition: Any) -> dict[str, Any]:
        return {"AssignmentExpression": {"lhs": {"Events": name}, "operator": "<<", "rhs": condition}}

    a = equal({"Event": "type"}, {"String": "A"})
    same = equal({"Event": "id"}, {"Events": "a.id"})
    b = {"AndExpression": {"lhs": equal({"Event": "type"}, {"String": "B"}), "rhs": same}}
    condition = {"AllCondition": [bound("a", a), bound("b", b)], "timeout": "10 seconds"}
    actions = [{"Action": {"action": "debug", "action_args": {}}}]
    rule = {"name": "w", "condition": condition, "actions": actions, "enabled": True}
    return {"name": "nearest", "hosts": ["all"], "sources": [], "rules": [{"Rule": rule}]}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
