"""Units as Python runs them and as machine code: the two ways in which the other tests of the machine compare them.

The tests here are of the ways themselves: what is exported, how it is called, what is imported when.
"""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

from ensue.engine.machine import MachineError, available, build, callbacks, load, plain, translate
from ensue.engine.structure import Column, Frame, Layout, Structure, class_of, row_columns

if not available():
    pytest.skip("llvmlite is not installed", allow_module_level=True)

LEVELS = (0, 2)

STORE = Layout(
    ("count", "capacity"),
    (
        *row_columns("rows", {"key": "i64", "weight": "f64", "other": "i64"}),
        ("small", Column("halves", "i32", 2, 1)),
        ("flag", Column("bytes", "u8")),
    ),
)
WIDER = Layout(("first", "count", "capacity"), row_columns("wide", {"left": "f64", "key": "i64", "right": "i64"}))


class Table(Structure):
    """Arrays of as many rows as its capacity, which doubles."""

    def grow(self) -> None:
        self.capacity = max(8, 2 * self.capacity)
        widths = {}
        for _, column in self.layout.columns:
            widths[column.array] = (max(column.width, widths.get(column.array, (1,))[0]), column.element)
        for name, (width, element) in widths.items():
            dtype = {"i32": np.int32, "u8": np.uint8}.get(element, np.int64)
            shape = (self.capacity, width) if width > 1 else self.capacity
            new = np.zeros(shape, dtype)
            if name in self.arrays:
                new[: len(self.arrays[name])] = self.arrays[name]
                self.arrays[name][...] = 77  # whoever still uses the old array is found out
            self.put(name, new)


class World:
    """Structures in a frame; the machine's, or those of a plain run."""

    def __init__(self, layouts: dict[str, Layout], kind: type[Structure] = Table) -> None:
        bases, cell = {}, 3
        for name, layout in layouts.items():
            bases[name], cell = cell, cell + layout.cells
        self.frame = Frame(cell)
        self.structures = {name: class_of(kind, layout)(self.frame, bases[name]) for name, layout in layouts.items()}
        self.places = {name: (layout, bases[name]) for name, layout in layouts.items()}
        for structure in self.structures.values():
            structure.grow()

    def state(self) -> dict[str, object]:
        return {
            name: (one.numbers(), {key: one_nan(array).tolist() for key, array in one.arrays.items()})
            for name, one in self.structures.items()
        }


def one_nan(array: np.ndarray) -> np.ndarray:
    """The array with the same bits for every NaN: which ones an operation gives is left open."""
    if array.dtype != np.int64:
        return array
    return np.where(np.isnan(array.view(np.float64)), 0x7FF8 << 48, array)


def compiled(texts, layouts, entries, level):
    """Gives a function that runs an entry by machine code, in a world."""
    machine = load(build(translate(texts, World(layouts).places, entries), level), entries)

    def run(world: World, name: str, *arguments, ask=None):
        calls = callbacks(world.frame, {one.base: one for one in world.structures.values()}, ask)
        found = machine[name](world.frame.address, *arguments)
        calls.check()
        return found

    return run


def interpreted(texts, world: World, name: str, *arguments, ask=None):
    return plain(texts, world.structures, ask)[name](*arguments)


def exact(value):
    """A value by its bits; all NaN are one."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return type(value), value


def agree(text: str, calls, layouts=None, ask=None) -> list:
    """Run calls (a name and arguments each) in all ways, one after the other in one world; returns the results."""
    layouts = layouts or {}
    entries = list(dict.fromkeys(name for name, *_ in calls))
    world = World(layouts)
    functions = plain([text], world.structures, ask)
    wanted = [functions[name](*arguments) for name, *arguments in calls]
    for level in LEVELS:
        run, other = compiled([text], layouts, entries, level), World(layouts)
        found = [run(other, name, *arguments, ask=ask) for name, *arguments in calls]
        for call, one, two in zip(calls, wanted, found, strict=True):
            assert exact(one) == exact(two), (call, level)
        assert other.state() == world.state()
    return wanted


def test_results_and_arguments_of_all_types():
    text = """
def whole(a: int, x: float, p: bool) -> int:
    return a + int(p)
def half(a: int, x: float, p: bool) -> float:
    return x * 0.5
def both(a: int, x: float, p: bool) -> bool:
    return p and a > 0
def nothing(a: int, x: float, p: bool) -> None:
    return
def empty() -> None:
    "Does nothing."
"""
    calls = [
        (name, a, x, p)
        for name in ("whole", "half", "both", "nothing")
        for a, x, p in ((3, 2.5, True), (-1, -0.0, False))
    ]
    assert agree(text, [*calls, ("empty",)]) == [4, -1, 1.25, -0.0, True, False, None, None, None]


def test_entries_may_call_each_other_and_share_names_with_libraries():
    text = "def malloc(a: int) -> int:\n    return a + 1\ndef exit(a: int) -> int:\n    return 2 * malloc(a)\n"
    assert agree(text, [("exit", 4), ("malloc", 4)]) == [10, 5]


def test_a_unit_is_several_texts_with_constants():
    texts = [
        "from somewhere import gone\nN = 3\nHALF: float = 0.5\nLOW = -7\nclass Store: pass\nON = True\n",
        "def run(a: int) -> float:\n    N_ = N\n    return float(a * N_ + LOW) * HALF if ON else 0.0\n",
    ]
    assert interpreted(texts, World({}), "run", 5) == 4.0
    for level in LEVELS:
        assert compiled(texts, {}, ["run"], level)(World({}), "run", 5) == 4.0


def test_entries_outlive_their_machine():
    entry = load(build(translate(["def run(a: int) -> int:\n    return a * 2\n"], {}, ["run"]), 0), ["run"])["run"]
    assert entry(Frame(3).address, 21) == 42


def test_the_lock_is_released_while_machine_code_runs():
    """One thread waits in machine code for a value that another one writes."""
    text = "def run() -> None:\n    while shared.count + ask(shared, 5) == 0:\n        pass\n"
    world, waits = World({"shared": STORE}), threading.Event()
    machine = load(build(translate([text], world.places, ["run"]), 0), ["run"])

    def answer(structure, number):
        waits.set()
        return 0

    calls = callbacks(world.frame, {one.base: one for one in world.structures.values()}, answer)
    thread = threading.Thread(target=machine["run"], args=(world.frame.address,))
    thread.start()
    assert waits.wait(20)
    world.structures["shared"].count = 1
    thread.join(20)
    assert not thread.is_alive()
    calls.check()


def test_llvmlite_is_imported_only_when_something_is_built():
    code = (
        "import sys\nfrom ensue.engine.machine import translate, plain\n"
        "text = 'def run() -> int:\\n    return 3\\n'\ntranslate([text], {}, ['run'])\n"
        "assert plain([text], {})['run']() == 3\nassert not any('llvmlite' in name for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_llvmlite_there_are_plain_runs():
    code = (
        "import sys\nsys.modules['llvmlite'] = None\nimport ensue\n"
        "from ensue.engine import machine\nassert not machine.available()\n"
        "assert machine.plain(['def run() -> int:\\n    return 3\\n'], {})['run']() == 3\n"
        "try:\n    machine.build('', 0)\nexcept machine.MachineError as error:\n    assert 'pip install' in str(error)"
        "\nelse:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_llvmlite_that_does_not_load_is_reported_once_and_rules_run_as_python(tmp_path):
    package = tmp_path / "llvmlite"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_version.py").write_text("version_version = '0.48.0'\n")
    (package / "binding.py").write_text("raise OSError('libffi.so.8: cannot open shared object file')\n")
    code = (
        "import ensue, warnings\n"
        "program = ensue.compile('event a(k: int, z: int).  d(k, y = z + 7) <- a(k, z).')\n"
        "events = [{'type': 'a', 'time': t, 'k': 1, 'z': t} for t in range(3000)]\n"
        "with warnings.catch_warnings(record=True) as said:\n    warnings.simplefilter('always')\n"
        "    assert len(program.detect(events)) == 3000\n"
        "    session = program.start()\n    assert len(session.send(events)) == 3000\n"
        "[only] = said\nassert only.category is ensue.PlainCodeWarning, only\n"
        "assert 'llvmlite 0.48.0 is installed, but does not load: libffi' in str(only.message)\n"
        "try:\n    program.detect(events, compiled=True)\nexcept ensue.DetectError as error:\n"
        "    assert 'does not load' in str(error)\nelse:\n    raise AssertionError\n"
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "ENSUE_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_what_llvm_rejects_is_an_error():
    with pytest.raises(MachineError, match="rejects"):
        build("define nonsense", 0)
    with pytest.raises(MachineError, match="cannot load"):
        load(build(translate(["def run() -> int:\n    return 3\n"], {}, ["run"]), 0), ["other"])
    with pytest.raises(MachineError, match="no function other"):
        translate(["def run() -> int:\n    return 3\n"], {}, ["other"])
