"""Large tables on several cores: the same detections in the same order, whatever the number of threads."""

from concurrent import futures
from dataclasses import replace
from time import perf_counter

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.data import combined
from ensue.engine import dealing, large_files, plain_tables, tables
from ensue.engine.capacity import USUAL, using
from ensue.engine.final import receiving
from ensue.engine.parquet import PlainParquet
from ensue.engine.watching import watching
from ensue.partitioning import cuts_of
from ensue.request import Request

EVENTS = "event a(k: int, x: float).  event b(k: int, x: float).  "
TEXTS = EVENTS.replace("k: int", "k: string")

CASES = {
    "slices": (EVENTS + "m(k) <- a(k, _) seq b(k, _) within 5.", "in_slices"),
    "slices of an absence": (EVENTS + "m(k) <- x: a(k, _), w: extend(x, 4), while w: not b(k, _).", "in_slices"),
    "slices without a key": (EVENTS + "m(i = k, j) <- a(k, x) seq b(j, y) within 3 where y > x.", "in_slices"),
    "slices of two stages": (
        EVENTS + "s(k, x) <- a(k, x) seq b(k, _) within 5.  m(x) <- s(_, x) seq s(_, x) within 9.", "in_slices",
    ),
    "keys": (EVENTS + "m(k, x) <- recent a(k, x) seq b(k, _).", "by_key"),
    "keys that are strings": (TEXTS + "m(k, x) <- recent a(k, x) seq b(k, _).", "by_key"),
    "a window over all keys": (
        EVENTS + "s(k, x) <- a(k, x) seq b(k, _) within 5.  m(t = sum(x)) <- while last 4: collect s(_, x).",
        "in_slices",
    ),
    "quiet on what was derived": (
        EVENTS + "s(k, x) <- recent a(k, x) seq b(k, _).  m(x) <- s(_, x) once in 3.", "by_key",
    ),
    "recursion": (
        EVENTS + "r(k, n = 1) <- a(k, _).  r(k, n = m + 1) <- not a(k, _) in [r(k, m), a(k, _)] where m < 5.", "by_key",
    ),
}  # fmt: skip


def table_of(rules, rows=400):
    keys = [number * 7 % 11 for number in range(rows)]
    return pa.table(
        {
            "type": ["a" if number * 5 % 3 else "b" for number in range(rows)],
            "time": [number // 2 for number in range(rows)],
            "k": [f"key {key}" for key in keys] if "k: string" in rules else keys,
            "x": [float(number * 3 % 13) for number in range(rows)],
        }
    )


@pytest.fixture
def small_parts():
    with using(replace(USUAL, thread=50, twice=1, file=0, piece=64)):
        yield


@pytest.fixture
def ways(monkeypatch):
    """The names of the ways in which threads were used."""
    taken = []
    for module in (tables, large_files):
        for name in ("in_slices", "by_key"):
            way = getattr(module, name)
            monkeypatch.setattr(module, name, lambda *given, way=way, name=name: taken.append(name) or way(*given))
    return taken


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_same_on_several_threads(case, threads, small_parts, ways):
    rules, way = CASES[case]
    program, events = ensue.compile(rules), table_of(rules)
    wanted = program.detect(events, 230, threads=1)
    assert wanted.num_rows > 20 and not ways
    assert program.detect(events, 230, threads=threads).equals(wanted)
    assert ways == [way]


@pytest.mark.parametrize("case", CASES)
def test_the_same_from_a_file(case, small_parts, ways, tmp_path):
    rules, way = CASES[case]
    program, events = ensue.compile(rules), table_of(rules)
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
    wanted = program.detect(events, 230, threads=1)
    assert program.detect(tmp_path / "events.parquet", 230, threads=1).equals(wanted)
    assert not ways
    assert program.detect(tmp_path / "events.parquet", 230, threads=3).equals(wanted)
    assert ways == [way]


@pytest.mark.parametrize("case", CASES)
def test_a_nested_column_before_the_times(case, small_parts, ways, tmp_path):
    """Each field of it is a column of the file. They rise as times do, and end earlier."""
    rules, way = CASES[case]
    table = table_of(rules)
    fields = [pa.array(range(table.num_rows)) for _ in range(3)]
    nested = pa.StructArray.from_arrays([pa.compute.divide(each, 3) for each in fields], ["p", "q", "r"])
    pq.write_table(table.add_column(0, "nested", nested), tmp_path / "events.parquet", row_group_size=40)
    program = ensue.compile(rules)
    assert program.detect(tmp_path / "events.parquet", threads=3).equals(program.detect(table, threads=1))
    assert ways == [way]


def test_types_that_are_not_stored_in_a_dictionary(small_parts, tmp_path):
    rules, _ = CASES["keys"]
    table, program = table_of(rules), ensue.compile(rules)
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=40, use_dictionary=["k"])
    assert program.detect(tmp_path / "events.parquet", threads=3).equals(program.detect(table, threads=1))


def test_a_file_with_a_gap_goes_the_long_way(small_parts, ways, tmp_path):
    rules, _ = CASES["slices"]
    program, events = ensue.compile(rules), table_of(rules)
    types = events.column("type").to_pylist()
    gap = events.set_column(0, "type", pa.array([*types[:-1], None]))
    pq.write_table(gap, tmp_path / "events.parquet", row_group_size=45)
    with pytest.warns(ensue.BadRowsWarning):
        found = program.detect(tmp_path / "events.parquet", threads=3)
    assert found.equals(program.detect(events.slice(0, len(events) - 1), threads=1))


def test_rules_that_cannot_be_cut_run_on_one_thread(small_parts, ways):
    program = ensue.compile(EVENTS + "m(k) <- a(k, _) seq b(j, _) where j > k.  every_(n = count(e)) <- "
                            "every(5), while last 3: collect e: a(_, _).")  # fmt: skip
    events = table_of("")
    assert program.detect(events, emit="m", threads=3).num_rows
    assert not ways


def test_limits_hold_in_every_thread(small_parts):
    program = ensue.compile(CASES["slices"][0])
    with pytest.raises(ensue.LimitError, match="derives more than 3 events"):
        program.detect(table_of(""), threads=2, max_matches=3)


def test_how_many_threads(monkeypatch, small_parts, ways):
    program, events = ensue.compile(CASES["keys"][0]), table_of("")
    for wrong in (0, -1, "2", True):
        with pytest.raises(ensue.DataError, match="how many threads may detect, 1 or more"):
            program.detect(events, threads=wrong)
    monkeypatch.setenv("ENSUE_THREADS", "many")
    with pytest.raises(ensue.DataError, match="ENSUE_THREADS is 'many'"):
        program.detect(events)
    monkeypatch.setenv("ENSUE_THREADS", "1")
    program.detect(events)
    assert not ways
    monkeypatch.setenv("ENSUE_THREADS", "2")
    program.detect(events)
    assert ways == ["by_key"]


def test_how_far_stages_look_back_together():
    rules = EVENTS + "s(k, x) <- a(k, x) seq b(k, _) within 5.  m(x) <- s(_, x) seq s(_, x) within 9."
    assert cuts_of(ensue.compile(rules).typed, ["m"]).extent == 13  # the second one begins after the first has ended
    quiet = EVENTS + "m(k) <- a(k, _) seq b(k, _) within 5 once per k in 3."
    assert cuts_of(ensue.compile(quiet).typed, ["m"]) is None


def test_what_is_not_kept_is_counted(small_parts, ways):
    program, counts = ensue.compile(CASES["quiet on what was derived"][0]), []
    for threads in (1, 3):
        program.detect(table_of(""), threads=threads, on_suppressed=counts.append)
    assert counts[0] == counts[1] and counts[0]["m"] > 10 and ways


def test_a_failure_in_one_thread_ends_all(small_parts, monkeypatch, tmp_path):
    rules, _ = CASES["keys"]
    program, events, read = ensue.compile(rules), table_of(rules), []
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=20)
    pieces = PlainParquet.pieces

    def failing(file, groups=None):
        read.append(groups)
        if len(read) > 4:
            raise ensue.DataError("the disk is gone")
        return pieces(file, groups)

    monkeypatch.setattr(PlainParquet, "pieces", failing)
    for way in ("keys", "slices"):
        read.clear()
        with pytest.raises(ensue.DataError, match="the disk is gone"):
            ensue.compile(CASES[way][0]).detect(tmp_path / "events.parquet", threads=4 if way == "keys" else 7)
    assert program.detect(events, threads=4).num_rows


def test_an_interrupt_ends_all_threads(small_parts, monkeypatch, tmp_path):
    """The calling thread is interrupted while the others wait for something that never comes."""
    rules, _ = CASES["keys"]
    pq.write_table(table_of(rules), tmp_path / "events.parquet", row_group_size=20)
    monkeypatch.setattr(futures, "wait", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    dealers = []
    monkeypatch.setattr(dealing.Dealer, "_taken", waiting_for_ever(dealers))
    with pytest.raises(KeyboardInterrupt):
        ensue.compile(rules).detect(tmp_path / "events.parquet", threads=3)
    assert isinstance(dealers[0].failure, KeyboardInterrupt)


def waiting_for_ever(dealers):
    def taken(dealer, part, number):
        dealers.append(dealer)
        with dealer.changed:
            dealer.changed.wait_for(lambda: dealer.failure is not None)
            raise dealer.failure

    return taken


@pytest.mark.parametrize("case", ["keys", "slices"])
def test_every_event_is_counted_once(case, small_parts, ways, tmp_path):
    rules, way = CASES[case]
    pq.write_table(table_of(rules), tmp_path / "events.parquet", row_group_size=45)
    told = []

    class Told:
        clock = staticmethod(perf_counter)

        def count(self, done, total, found):
            told.append((done, total, found))

        def spent(self, work, rules, seconds, on=None):
            pass

    with watching(Told()):
        found = ensue.compile(rules).detect(tmp_path / "events.parquet", threads=3)
    assert ways == [way]
    assert told[-1][:2] == (400, 400) and told == sorted(told)
    assert told[-1][2] == found.num_rows if case == "keys" else told[-1][2] >= found.num_rows


def test_rows_of_one_key_and_types_without_keys(small_parts, ways, tmp_path):
    """All rows of a piece may belong to one thread; events that no rule uses belong to any."""
    rules = CASES["keys"][0] + "  event c(x: float)."
    whole = table_of(rules)
    for change in ({"k": [5] * 400}, {"k": [None] * 200 + [5] * 200}, {"type": ["c"] * 200 + ["a", "b"] * 100}):
        events = whole
        for name, values in change.items():
            events = events.set_column(events.schema.get_field_index(name), name, pa.array(values))
        pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
        program = ensue.compile(rules)
        wanted = program.detect(events, threads=1)
        assert wanted.num_rows
        assert program.detect(events, threads=4).equals(wanted)
        assert program.detect(tmp_path / "events.parquet", threads=4).equals(wanted)


def test_files_of_some_row_groups_are_read_by_threads_unless_sources_are_asked_for(ways, tmp_path):
    rules, _ = CASES["keys"]
    program, events = ensue.compile(rules), table_of(rules)
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
    with using(replace(USUAL, thread=50)):
        wanted = program.detect(events, threads=1)
        assert program.detect(tmp_path / "events.parquet", threads=2).equals(wanted)
        assert ways == ["by_key"]
        sourced = program.detect(tmp_path / "events.parquet", threads=2, provenance=True)
        assert sourced.equals(program.detect(events, threads=1, provenance=True))
        assert ways == ["by_key"]


@pytest.mark.parametrize("case", ["keys", "slices"])
def test_a_file_without_an_event_that_rules_know(case, small_parts, ways, tmp_path):
    rules, way = CASES[case]
    events = table_of(rules)
    for types in (["other"] * 400, ["other"] * 399 + ["a"]):
        whole = events.set_column(0, "type", pa.array(types))
        pq.write_table(whole, tmp_path / "events.parquet", row_group_size=45)
        _, read = ensue.compile(rules).detect_tables(tmp_path / "events.parquet", Request(threads=3))
        assert (read.used, read.rows, read.last_end) == ("a" in types, 400, 199)
    assert ways == [way, way]


@pytest.mark.parametrize("spoilt", [None, 0, 3, 7])
def test_chunks_are_read_by_threads_in_their_order(spoilt, small_parts, monkeypatch):
    monkeypatch.setattr(plain_tables, "SMALL_PIECE", 10)
    program = ensue.compile(CASES["keys"][0])
    chunks = [table_of("").slice(50 * number, 50) for number in range(8)]
    if spoilt is not None:  # ends fall from here on: there is one piece, in order
        chunks[spoilt] = chunks[spoilt].take(list(range(49, -1, -1)))
    table = pa.concat_tables(chunks)
    names = Request().columns
    one = plain_tables.pieces_of(table, names, program.typed.events)
    several = plain_tables.pieces_of(table, names, program.typed.events, threads=3)
    assert len(one) == len(several) == (8 if spoilt is None else 1)
    assert [(p.offset, p.kind.tolist(), p.end.tolist()) for p in one] == [
        (p.offset, p.kind.tolist(), p.end.tolist()) for p in several
    ]


@pytest.mark.parametrize("in_dictionary", [True, False])
def test_a_type_that_is_not_utf_8_is_none_that_rules_know(in_dictionary, tmp_path):
    program = ensue.compile(EVENTS + "m(k) <- a(k, _) seq b(k, _).")
    texts = pa.array([b"a", b"\xff", b"b"], pa.binary())
    types = pa.StringArray.from_buffers(3, *texts.buffers()[1:])
    table = pa.table({"type": types, "time": [1, 2, 3], "k": [1, 1, 1], "x": [0.5, 0.5, 0.5]})
    pq.write_table(table, tmp_path / "events.parquet", use_dictionary=in_dictionary)
    assert program.detect(tmp_path / "events.parquet").to_pylist() == [{"type": "m", "start": 1, "end": 3, "k": 1}]
    coded = table.set_column(0, "type", types.dictionary_encode()) if in_dictionary else table
    assert program.detect(coded).to_pylist() == [{"type": "m", "start": 1, "end": 3, "k": 1}]


class Received:
    """The detections that were handed over as final."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.parts, self.ended = [], None

    def take(self, tables):
        self.parts.append(tables)

    def end(self, whole):
        self.ended = whole


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("in_file", [False, True])
def test_final_detections_are_handed_over_in_order(case, threads, in_file, small_parts, tmp_path):
    rules, _ = CASES[case]
    program, events = ensue.compile(rules), table_of(rules, 900)
    if in_file:
        pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
    source = tmp_path / "events.parquet" if in_file else events
    request = Request(until=480, threads=threads)
    wanted, _ = program.detect_tables(events, replace(request, threads=1))
    received = Received()
    with receiving(received):
        found, _ = program.detect_tables(source, request)
    assert found == wanted
    if received.ended is not found:  # rules that run on the whole, after the others, or a session
        assert not received.parts
        return
    assert {name: pa.concat_tables([each[name] for each in received.parts]) for name in wanted} == wanted
    handed = pa.concat_tables([combined(each) for each in received.parts if any(t.num_rows for t in each.values())])
    assert handed.equals(combined(wanted))


@pytest.mark.parametrize("in_file", [False, True])
def test_slices_are_handed_over_one_by_one(in_file, small_parts, monkeypatch, tmp_path):
    program, received, events = ensue.compile(CASES["slices"][0]), Received(), table_of(EVENTS, 900)
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
    monkeypatch.setattr(large_files, "GROUPS", 2)
    slices, in_slices = [], large_files.in_slices
    monkeypatch.setattr(large_files, "in_slices", lambda *given: slices.extend(given[1]) or in_slices(*given))
    with receiving(received):
        found, _ = program.detect_tables(tmp_path / "events.parquet" if in_file else events, Request(threads=2))
    assert found == program.detect_tables(events, Request(threads=1))[0]
    assert received.ended is found
    assert len(slices) == (8 if in_file else 0)
    assert len([each for each in received.parts if each["m"].num_rows]) > 2


def test_what_was_handed_over_does_not_count_where_detection_began_anew(small_parts, monkeypatch, tmp_path):
    """The last row group of the file turns out to need conversion, so the whole of it is read in another way."""
    program, events, received = ensue.compile(CASES["slices"][0]), table_of(EVENTS), Received()
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=45)
    mixed_of, calls = large_files.mixed_of, []

    def failing(*given, **named):
        calls.append(given)
        return None if len(calls) == 12 else mixed_of(*given, **named)

    monkeypatch.setattr(large_files, "mixed_of", failing)
    with receiving(received):
        found, _ = program.detect_tables(tmp_path / "events.parquet", Request(threads=2))
    assert len(calls) >= 12
    assert received.ended is not found
    assert found == program.detect_tables(events, Request(threads=1))[0]
