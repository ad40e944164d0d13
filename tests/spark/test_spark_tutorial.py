"""The tutorial works on Spark: a table, and a stream that continues from its checkpoint."""

from tests.tutorial import PAGE, SPARK, follow


def test_the_tutorial_on_spark(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, after = PAGE.read_text(encoding="utf-8").split(SPARK)
    files = before[: before.index("## 4.")]
    program = before[before.index("## 7.") : before.index("## 8.")]
    # Spark resolves paths in the folder in which its Java was started, which is another one here.
    for name in ("events.jsonl", "found", "state"):
        after = after.replace(f'"{name}")', f'"{tmp_path}/{name}")')
    done = list(follow(files + program + after, tmp_path))
    assert len(done) > 5
    for step, expected, shown in done:
        assert shown == expected, step
