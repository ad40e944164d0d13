"""The Python of the pages on Spark runs: on a table, and as streams that write what the page says."""

import json
import re

import pytest

import ensue
from tests.test_documents import blocks

RULES = """
    event order(id: int, product: string).
    event shipped(id: int).
    done(id, product) <- order(id, product) seq shipped(id).
    overdue(id) <- o: order(id, _), w: extend(o, 6h), while [w]: not shipped(id) once per id in 1d.
    on overdue(id) do notify(id).
"""
EVENTS = [
    {"type": "order", "time": "2026-03-01T08:00:00Z", "id": 1, "product": "tea"},
    {"type": "order", "time": "2026-03-01T09:00:00Z", "id": 2, "product": "rum"},
    {"type": "shipped", "time": "2026-03-01T10:00:00Z", "id": 2},
    {"type": "order", "time": None, "id": 3, "product": "tea"},
    {"type": "order", "time": "2026-03-01T16:00:00Z", "id": 4, "product": "tea"},
]
COLUMNS = "type string, time timestamp, id bigint, product string"


def run(text, folder, names):
    """Run a block with its folders below another folder: Java has a working directory of its own."""
    exec(re.sub(r'"(\w+/)"', rf'"{folder}/\1"', text), names)
    return names


def finish(spark):
    """Let all queries process what is there, and stop them."""
    for query in spark.streams.active:
        query.processAllAvailable()
        query.stop()


@pytest.fixture
def arriving(tmp_path):
    folder = tmp_path / "arriving"
    folder.mkdir()
    (folder / "first.json").write_text("\n".join(map(json.dumps, EVENTS)), encoding="utf-8")
    return folder


def test_the_page_on_tables(spark, tmp_path, arriving):
    spark.read.schema(COLUMNS).json(str(arriving)).write.parquet(f"{tmp_path}/orders")
    tables, local, rejected, suppressed = blocks("docs/spark.md", "python")
    names = run(tables, tmp_path, {"ensue": ensue, "spark": spark})
    assert sorted(row["type"] for row in names["found"].collect()) == ["done", "overdue"]
    assert [row["id"] for row in spark.read.parquet(f"{tmp_path}/overdue").collect()] == [1]
    names["program"] = ensue.compile(RULES)
    assert run(local, tmp_path, dict(names))["spark"].version == spark.version
    bad = run(rejected, tmp_path, names)["found"].where("rejected is not null").select("rejected.reason")
    assert [row["reason"] for row in bad.collect()] == ["column 'time' is empty, and an event needs a time"]
    assert run(suppressed, tmp_path, names)["found"].where("suppressed is not null").count() == 0


def test_the_page_on_streams(spark, tmp_path, arriving):
    first, setting, rejected, reactions = blocks("docs/streams.md", "python")
    program, told = ensue.compile(RULES), []
    names = {"program": program, "spark": spark, "notify": told.append}
    folders = [tmp_path / name for name in ("first", "rejected", "reactions")]
    for folder in folders:
        folder.mkdir()
        (folder / "arriving").symlink_to(arriving)

    run(setting, tmp_path, names)
    run(first, folders[0], names)
    finish(spark)
    found = spark.read.parquet(f"{folders[0]}/alerts").collect()
    assert sorted((row["type"], row["id"]) for row in found) == [("done", 2), ("overdue", 1)]

    run(rejected, folders[1], names)
    finish(spark)
    assert spark.read.parquet(f"{folders[1]}/alerts").count() == len(found)
    (bad,) = spark.read.parquet(f"{folders[1]}/rejected").collect()
    assert json.loads(bad["row"])["id"] == 3

    names["found"] = program.detect(names["orders"], lateness="10m")
    run(reactions, folders[2], names)
    finish(spark)
    assert told == [1]
