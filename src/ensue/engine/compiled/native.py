"""Machine code that Numba made, kept in a file and called without Numba, whose import takes longer than detection.

What is kept is one function, with an entry that takes a row of words: an integer as it is, an array as the address of
its Python object, whose memory, shape and type the entry looks up, as any extension module does. Beside it stands what
the function would have called of Numba's runtime. LLVM's linker loads it, and ctypes calls it.

Wherever something is not as expected (a version, an array of another type) there is no such function or it is not used;
then the function is Numba's.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ensue.cache import keep, kept, key_of

Function = Callable[..., Any]

ENTRY, RELEASE = "ensue_entry", "ensue_release"

OTHER_TYPES = 77
"""What the entry gives back when an argument is not what it takes."""

HEAD = object.__basicsize__
DATA, DIMENSIONS, SHAPE, STRIDES, TYPE, FLAGS = (HEAD + place for place in (0, 8, 16, 24, 40, 48))
"""Where the parts of a NumPy array lie, from the address of its Python object on."""

CONTIGUOUS = 1
ROOM = 64
"""The bytes in front of memory that a function asks for: what Numba's runtime keeps of it."""

TYPES = {"i4": np.int32, "i8": np.int64, "u1": np.uint8, "f8": np.float64}
_TYPES = {name: np.dtype(type_) for name, type_ in TYPES.items()}

Argument = tuple[str, int]
"""The type of an argument and its dimensions, 0 for an integer."""


@dataclass(frozen=True)
class Signature:
    """What a function takes: integers, arrays, integers, in this order.

    What it gives is nothing, an integer, a truth value, an array, or an array and an integer.
    """

    arguments: tuple[Argument, ...]
    result: str = ""

    @property
    def words(self) -> int:
        """How many words hold the result: an array of two dimensions is nine."""
        return {"": 0, "i": 1, "b": 1, "a": 9, "ai": 10}[self.result]


class Native:
    """A loaded function. For arguments of other types there is `otherwise`."""

    def __init__(self, signature: Signature, library: Any, otherwise: Callable[[], Function]) -> None:
        self.library = library  # whose end would be that of the code
        self.otherwise = otherwise
        self.result = signature.result
        arrays = [place for place, (_, dimensions) in enumerate(signature.arguments) if dimensions]
        self.first, self.after = arrays[0], arrays[-1] + 1
        self.room = ctypes.c_int64 * signature.words
        self.words = struct.Struct(f"{1 + len(signature.arguments)}q").pack
        self.types = struct.pack(f"{len(TYPES)}q", *map(id, _TYPES.values()))
        self.entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p)(library[ENTRY])
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_int64)(library[RELEASE])

    def __call__(self, *arguments: Any) -> Any:
        room = self.room() if self.result else None
        place, first, after = ctypes.addressof(room) if room else 0, self.first, self.after
        words = self.words(place, *arguments[:first], *map(id, arguments[first:after]), *arguments[after:])
        status = self.entry(self.types + words)
        if status == OTHER_TYPES:
            return self.otherwise()(*arguments)
        if status:
            raise MemoryError("Allocation failed (probably too large).")
        return self._given_back(room[:]) if room else None

    def _given_back(self, words: Sequence[int]) -> Any:
        if self.result == "i":
            return words[0]
        if self.result == "b":
            return bool(words[0] & 1)
        memory, _, count, _, data, rows, columns, *_ = words
        held = memoryview((ctypes.c_int64 * count).from_address(data)) if count else b""
        array = np.frombuffer(held, np.int64).reshape(rows, columns).copy()
        self.release(memory)
        return array if self.result == "a" else (array, words[9])


# --- from the cache


_loaded: dict[str, Native] = {}
_loading = threading.Lock()


def loaded(name: str, signature: Signature, otherwise: Callable[[], Function]) -> Native | None:
    """A function that was kept; `otherwise` gives the same for arguments of any type."""
    with _loading:
        if name not in _loaded:
            code = kept(_file(name)) if _linker() is not None else None
            if code is None:
                return None
            from llvmlite import binding

            builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
            try:
                library = builder.export_symbol(ENTRY).export_symbol(RELEASE).link(_linker(), name)
            except RuntimeError:  # something that it calls is not there
                return None
            _loaded[name] = Native(signature, library, otherwise)
        return _loaded[name]


@cache
def _linker() -> Any:
    """LLVM's linker; None if it cannot be used here."""
    if not _arrays_are_as_expected():
        return None
    try:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        machine = binding.Target.from_triple(binding.get_process_triple()).create_target_machine(jit=True)
        return binding.create_lljit_compiler(machine, suppress_errors=True)
    except (ImportError, AttributeError, TypeError, RuntimeError):
        return None


def _arrays_are_as_expected() -> bool:
    array = np.empty((2, 3), np.int64)

    def word(place: int, kind: Any = ctypes.c_int64) -> int:
        return int(kind.from_address(id(array) + place).value)

    return (
        ctypes.sizeof(ctypes.c_void_p) == 8
        and word(DATA) == array.ctypes.data
        and word(DIMENSIONS, ctypes.c_int32) == 2
        and tuple((ctypes.c_int64 * 2).from_address(word(SHAPE))) == (2, 3)
        and tuple((ctypes.c_int64 * 2).from_address(word(STRIDES))) == (24, 8)
        and word(TYPE) == id(np.dtype(np.int64))
        and word(FLAGS, ctypes.c_int32) & CONTIGUOUS == CONTIGUOUS
    )


def _file(name: str) -> str:
    """Machine code is for one kind of machine, for the settings it was made with, and for how it is called here."""
    import llvmlite
    from llvmlite import binding

    machine = (binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    settings = sorted(f"{key}={value}" for key, value in os.environ.items() if key.startswith("NUMBA_CPU"))
    here = Path(__file__).read_text(encoding="utf-8")
    return f"{name}.{key_of(here, llvmlite.__version__, *machine, *settings)}.object"


def numba_version() -> str | None:
    """What Numba's file of its version holds, so that Numba need not be imported for it; None if there is no Numba."""
    spec = importlib.util.find_spec("numba")
    if spec is None or not spec.submodule_search_locations:
        return None
    return _version(spec.submodule_search_locations[0])


@cache
def _version(folder: str) -> str:
    return Path(folder, "_version.py").read_text(encoding="utf-8")


# --- into the cache


def keep_function(name: str, dispatcher: Any, signature: Signature) -> None:
    """Keeps a function as Numba compiles it for a signature, if it needs nothing of Numba when it runs."""
    if _linker() is None:
        return
    from llvmlite import binding

    try:
        code = _object_code(_compiled(dispatcher, signature), dispatcher.targetctx, signature, binding)
    except (AttributeError, NameError, TypeError, ValueError, RuntimeError):  # another Numba than is known here
        return
    if code is not None:
        keep(_file(name), code)


def _compiled(dispatcher: Any, signature: Signature) -> Any:
    """What Numba has compiled for a signature, if need be now; its own cache has the machine code only."""
    from numba import njit, types

    wanted = tuple(
        types.Array(getattr(types, type_), dimensions, "C") if dimensions else getattr(types, type_)
        for type_, dimensions in signature.arguments
    )
    for given, made in dispatcher.overloads.items():
        plainly = tuple(t.copy(readonly=False) if isinstance(t, types.Array) else t for t in given)
        known = {function.name for function in made.library.get_defined_functions()}
        if plainly == wanted and made.fndesc.mangled_name in known:
            return made
    fresh = njit(nogil=True, error_model="numpy")(dispatcher.py_func)
    fresh.compile(wanted)
    return fresh.overloads[wanted]


def _object_code(made: Any, context: Any, signature: Signature, binding: Any) -> bytes | None:
    library, symbol = made.library, made.fndesc.mangled_name
    module = binding.parse_bitcode(library._final_module.as_bitcode())
    if library.has_dynamic_globals or module.get_function(symbol).is_declaration:
        return None  # from Numba's cache, which keeps no more than the object code
    type_ = context.call_conv.get_function_type(made.fndesc.restype, made.fndesc.argtypes)
    beside = binding.parse_assembly(str(_entry(type_, symbol, signature, module.triple, module.data_layout)))
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration:
            value.linkage = "external" if value.name == symbol else "internal"
    module.link_in(beside)
    module.get_function(symbol).linkage = "internal"
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    machine = library._codegen._tm
    passes.run(module, binding.create_pass_builder(machine, binding.create_pipeline_tuning_options()))
    module.verify()
    used = [value.name for value in (*module.functions, *module.global_variables) if value.is_declaration]
    if any(name.startswith(("NRT_", "numba_", "Py", "_Py")) for name in used):
        return None
    return bytes(machine.emit_object(module))


def _entry(native: Any, symbol: str, signature: Signature, triple: str, data_layout: str) -> Any:
    """A module with the entry, and with what of Numba's runtime a function may call."""
    from llvmlite import ir

    word, small, pointer = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
    module = ir.Module()
    module.triple, module.data_layout = triple, data_layout
    function = ir.Function(module, native, symbol)
    entry = ir.Function(module, ir.FunctionType(small, [word.as_pointer()]), ENTRY)
    entry.calling_convention = function.calling_convention
    build = ir.IRBuilder(entry.append_basic_block())

    def given(place: int) -> Any:
        return build.load(build.gep(entry.args[0], [word(place)]))

    def held(address: Any, place: int, type_: Any = word) -> Any:
        return build.load(build.inttoptr(build.add(address, word(place)), type_.as_pointer()))

    room = given(len(TYPES)) if signature.result else build.ptrtoint(build.alloca(word), word)
    words, fits = [room, build.ptrtoint(build.alloca(word), word)], ir.IntType(1)(1)
    for number, (type_, dimensions) in enumerate(signature.arguments):
        value = given(len(TYPES) + 1 + number)
        if not dimensions:
            words.append(value)
            continue
        for holds in (
            build.icmp_signed("==", held(value, DIMENSIONS, small), small(dimensions)),
            build.icmp_signed("==", held(value, TYPE), given(list(TYPES).index(type_))),
            build.icmp_signed("!=", build.and_(held(value, FLAGS, small), small(CONTIGUOUS)), small(0)),
        ):
            fits = build.and_(fits, holds)
        place, steps = held(value, SHAPE), held(value, STRIDES)
        shape = [held(place, 8 * k) for k in range(dimensions)]
        count = shape[0] if dimensions == 1 else build.mul(*shape)
        strides = [held(steps, 8 * k) for k in range(dimensions)]
        words += [word(0), word(0), count, word(_TYPES[type_].itemsize), held(value, DATA), *shape, *strides]
    if len(words) != len(native.args):
        raise ValueError(f"{symbol} takes {len(native.args)} words, not {len(words)}")
    with build.if_then(build.not_(fits)):
        build.ret(small(OTHER_TYPES))
    build.ret(
        build.call(
            function,
            [
                build.inttoptr(value, type_) if isinstance(type_, ir.PointerType) else value
                for value, type_ in zip(words, native.args, strict=True)
            ],
        )
    )
    _write_runtime(module, word, small, pointer)
    return module


def _write_runtime(module: Any, word: Any, small: Any, pointer: Any) -> None:
    """Memory that is counted, given back at once when nobody has it; and arrays without gaps seen as one dimension."""
    from llvmlite import ir

    nothing = ir.VoidType()
    malloc = ir.Function(module, ir.FunctionType(pointer, [word]), "malloc")
    free = ir.Function(module, ir.FunctionType(nothing, [pointer]), "free")

    function = ir.Function(module, ir.FunctionType(pointer, [word, small]), "NRT_MemInfo_alloc_aligned")
    build = ir.IRBuilder(function.append_basic_block())
    size, aligned = function.args[0], build.zext(function.args[1], word)
    got = build.call(malloc, [build.add(build.add(size, word(ROOM)), aligned)])
    begin = build.ptrtoint(got, word)
    with build.if_then(build.icmp_signed("==", begin, word(0))):
        build.ret(got)
    data = build.and_(build.add(begin, build.add(word(ROOM - 1), aligned)), build.neg(aligned))
    for place, value in enumerate((word(1), word(0), word(0), data, size, word(0))):
        build.store(value, build.inttoptr(build.add(begin, word(8 * place)), word.as_pointer()))
    build.ret(got)

    function = ir.Function(module, ir.FunctionType(nothing, [pointer]), "NRT_MemInfo_call_dtor")
    build = ir.IRBuilder(function.append_basic_block())
    build.call(free, [function.args[0]])
    build.ret_void()

    function = ir.Function(module, ir.FunctionType(nothing, [word]), RELEASE)
    build = ir.IRBuilder(function.append_basic_block())
    build.call(free, [build.inttoptr(function.args[0], pointer)])
    build.ret_void()

    many = word.as_pointer()
    function = ir.Function(
        module,
        ir.FunctionType(small, [word, many, many, word, many, many, word, small]),
        "numba_attempt_nocopy_reshape",
    )
    build = ir.IRBuilder(function.append_basic_block())
    build.store(function.args[6], function.args[5])
    build.ret(build.zext(build.icmp_signed("==", function.args[3], word(1)), small))
