"""Workers take the machine code that came with the job, where it fits, and find the same."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import ensue
from ensue.engine import machine
from ensue.engine.machine import store
from ensue.engine.machine.shipment import Shipment, receive, received, shipped, this_machine
from ensue.spark.job import Job
from ensue.spark.processor import StagePlan
from ensue.spark.wire import Column, Wire
from ensue.spark.worker import PartitionTask

RULES = "event a(x: int). event b(x: int).  both(x) <- a(x) seq b(x) within 7."
COUNT = 6_000
UNIT = machine.Texts(["def run(a: int) -> int:\n    return a + 41\n"], {}, ["run"])

WORKER = """
import pickle, sys
from ensue.engine.machine import store
part, batches = pickle.load(sys.stdin.buffer)
found = list(part(batches))
pickle.dump((found, dict(store.compiled)), sys.stdout.buffer)
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSUE_CACHE_DIR", str(tmp_path / "here"))


def _part() -> PartitionTask:
    job = Job(RULES, "rules", ("both",), timestamps=False, instants=True)
    wire = Wire((Column("c0", "x", "bigint"),), instants=True, sequence=False)
    found = Wire((Column("c0", "x", "bigint"),), instants=False, sequence=False)
    schema = pa.schema({"type": pa.string(), "start": pa.int64(), "end": pa.int64(), "c0": pa.int64()})
    return PartitionTask(job, 0, wire, found, schema, {}, None, (), code=job.code(0, wire, {}, fixed=True))


def _events() -> pa.Table:
    draw = np.random.default_rng(5)
    types = pa.array(draw.choice(["a", "b"], COUNT))
    return pa.table({"type": types, "time": np.arange(COUNT), "c0": draw.integers(0, 4, COUNT)})


def _in_another_process(part: PartitionTask, folder: object) -> tuple[list[tuple[int, ...]], int]:
    """Detections of a new process with an empty cache, and how often it compiles."""
    sent = pickle.dumps((part, _events().to_batches()))
    environment = {**os.environ, "ENSUE_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run([sys.executable, "-c", WORKER], input=sent, capture_output=True, env=environment)
    assert answer.returncode == 0, answer.stderr.decode()
    batches, compiled = pickle.loads(answer.stdout)
    return _rows(pa.Table.from_batches(batches)), sum(compiled.values())


def _rows(found: pa.Table) -> list[tuple[int, ...]]:
    return sorted(zip(*(found.column(name).to_pylist() for name in ("start", "end", "c0")), strict=True))


def _expected() -> list[tuple[int, ...]]:
    found = ensue.compile(RULES).detect(_events().rename_columns(["type", "time", "x"]), compiled=False)
    return _rows(found.rename_columns(["c0" if name == "x" else name for name in found.column_names]))


def test_a_worker_that_got_code_compiles_nothing(tmp_path):
    found, compiled = _in_another_process(_part(), tmp_path / "there")
    assert compiled == 0
    assert found == _expected()


def test_a_worker_with_another_processor_compiles_for_itself(tmp_path):
    part = _part()
    triple, _, *rest = part.code.machine
    other = replace(part, code=replace(part.code, machine=(triple, "another", *rest)))
    found, compiled = _in_another_process(other, tmp_path / "there")
    assert compiled > 0
    assert found == _expected()


def test_code_of_other_texts_and_damaged_code_is_not_used(tmp_path):
    part = _part()
    strange = [replace(piece, texts="0" * 64) for piece in part.code.pieces]
    damaged = [replace(piece, code=piece.code[:-1] + b"?") for piece in part.code.pieces]
    for number, pieces in enumerate((strange, damaged)):
        wrong = replace(part, code=replace(part.code, pieces=tuple(pieces)))
        found, compiled = _in_another_process(wrong, tmp_path / f"there{number}")
        assert compiled > 0
        assert found == _expected()


def test_nothing_is_compiled_for_rules_that_run_as_python():
    part = _part()
    before = sum(store.compiled.values())
    assert replace(part.job, compiled=False).code(0, part.given, {}, fixed=True) == machine.NOTHING
    assert sum(store.compiled.values()) == before


def test_code_that_was_received_is_found_by_its_texts():
    assert received(UNIT) is None
    receive(shipped([(UNIT, machine.QUICK)]))
    code = received(UNIT)
    assert code is not None
    assert machine.load(code, ["run"])["run"](0, 1) == 42
    assert received(machine.Texts(["def run(a: int) -> int:\n    return a + 40\n"], {}, ["run"])) is None


def test_a_large_shipment_is_remembered_whole(monkeypatch):
    from ensue.engine.machine import shipment

    monkeypatch.setattr(shipment, "MOST", 1)
    units = [machine.Texts([f"def run() -> int:\n    return {n}\n"], {}, ["run"]) for n in (7, 8, 9)]
    whole = shipped([(unit, machine.QUICK) for unit in units])
    receive(whole)
    assert all(received(unit) is not None for unit in units)
    receive(Shipment(this_machine(), whole.pieces[:1]))
    assert [received(unit) is not None for unit in units] == [True, False, False]


def test_a_plan_of_a_stream_takes_code_too(monkeypatch):
    taken = []
    monkeypatch.setattr(machine, "receive", taken.append)
    part = _part()
    plan = StagePlan(
        part.job, 0, 1, None, 0, part.given, part.given, part.schema, part.found, part.schema, (), ("both",),  # type: ignore[arg-type]
        frozenset(), frozenset(), {}, None, None, part.job.code(0, part.given, {}, fixed=False),
    )  # fmt: skip
    session = plan.session(plan.job)
    assert taken == [plan.code]
    digests = {piece.texts for piece in plan.code.pieces}
    assert {code.to_compile.digest for code in session.progress.run.prepared.codes} <= digests
