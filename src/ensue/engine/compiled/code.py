"""Generated source as a function: as it is, or compiled by Numba and kept on disk.

Compiled code is kept in the user's cache folder, beside the source it came from, in two forms: as Numba keeps it, and
as one function that runs without Numba (`native`), which is what is used wherever it can be. A file there is used only
if it holds exactly the source that is wanted, and machine code only if its file is whole.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from inspect import getsource
from pathlib import Path
from types import ModuleType
from typing import Any

from ensue.cache import cache_folder, usual_folder
from ensue.engine.compiled import kernels, native
from ensue.engine.compiled.indexing import flattened
from ensue.engine.compiled.layout import Layout
from ensue.engine.compiled.native import Argument, Signature
from ensue.errors import DetectError

Run = Callable[..., None]

HEAD = '"""Written by ensue from rules; safe to delete."""\n\nimport math\n\nimport numba\nimport numpy as np\n\n'

OPTIONS = "cache=True, nogil=True, error_model='numpy'"

CALL = """from llvmlite import ir
from numba.extending import intrinsic


@intrinsic
def call(context, address, row):
    def write(context, builder, signature, arguments):
        word = ir.IntType(64)
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [word]).as_pointer())
        return builder.call(function, [arguments[1]])

    return numba.int64(numba.int64, numba.int64), write
"""
"""The kernel `call` where it is compiled."""

_ROWS, _COLUMN, _NUMBER = ("i8", 2), ("i8", 1), ("i8", 0)
KERNELS = {
    "in_order": Signature((_COLUMN, _COLUMN), "i"),
    "kinds_of": Signature((("i4", 1), ("u1", 1), ("u1", 1), _COLUMN, ("i4", 1), ("i4", 1)), "b"),
    "rehash": Signature((_COLUMN, _ROWS, _NUMBER)),
    "bigger_ring": Signature((_ROWS, _NUMBER, _NUMBER), "a"),
    "compact": Signature((_ROWS, _COLUMN, _NUMBER, _NUMBER), "ai"),
}
"""The kernels that are called from Python, and on what."""


@cache
def kernel_source() -> str:
    """The text of the kernels, each to be compiled."""
    text = Path(kernels.__file__).read_text(encoding="utf-8")
    _, _, rest = text.partition("import numpy as np\n")
    rest = rest.replace("    return index\n", "    return np.uintp(index)\n")
    rest = rest.replace("\ndef ", f"\n@numba.njit({OPTIONS})\ndef ")
    return rest.replace(f"@numba.njit({OPTIONS})\n{getsource(kernels.call)}", CALL)


def plain(source: str) -> Run:
    """The function as Python runs it."""
    names: dict[str, Any] = dict(vars(kernels))
    exec(compile(source, "<rules>", "exec"), names)
    return names["run"]  # type: ignore[no-any-return]


def compiled(source: str, layout: Layout) -> Run:
    """The function as Numba compiles it, now or some time before."""
    if native.numba_version() is None:
        raise DetectError("Rules are compiled with numba, which is not installed: pip install numba.")
    name, text = _rule_module(source, layout)

    def by_numba() -> Any:
        load(*_kernel_module())
        return load(name, text).run

    return _without_numba(f"{name}.run", _taken(layout), by_numba)


def kernel(name: str) -> Callable[..., Any]:
    """A kernel, compiled where that is possible."""
    if native.numba_version() is None:
        return getattr(kernels, name)  # type: ignore[no-any-return]

    def by_numba() -> Any:
        return getattr(load(*_kernel_module()), name)

    if name not in KERNELS:
        return by_numba()  # type: ignore[no-any-return]
    return _without_numba(f"{_kernel_module()[0]}.{name}", KERNELS[name], by_numba)


def _without_numba(name: str, signature: Signature, by_numba: Callable[[], Any]) -> Callable[..., Any]:
    """A function that was kept or is made now, loaded so that it runs without Numba; Numba's if that cannot be."""
    found = native.loaded(name, signature, by_numba)
    if found is None:
        native.keep_function(name, by_numba(), signature)
        found = native.loaded(name, signature, by_numba)
    return by_numba() if found is None else found


def is_cached(source: str, layout: Layout) -> bool:
    """Whether the function was compiled before."""
    if native.numba_version() is None:
        return False
    name, _ = _rule_module(source, layout)
    folder = usual_folder()
    files = (folder.glob(f"{name}.run.*.object"), folder.joinpath("__pycache__").glob(f"{name}.run-*.nbi"))
    return name in sys.modules or any(any(found) for found in files)


@cache
def _kernel_module() -> tuple[str, str]:
    text = HEAD + kernel_source()
    return f"ensue_kernels_{_digest(f'{text}{KERNELS}')}", text  # a kernel that is kept is for what it is called on


def _rule_module(source: str, layout: Layout) -> tuple[str, str]:
    names = [name for name in vars(kernels) if not name.startswith("_") and name not in ("ctypes", "math", "np", "u")]
    text = (
        f"{HEAD}from numba import {', '.join(('i4', 'i8', 'f8', 'u1'))}\n"
        f"from {_kernel_module()[0]} import {', '.join(names)}\n\nu = np.uintp\n\n\n"
        "def given(of):\n    return numba.types.Array(of, 1, 'C', readonly=True)\n\n\n"
        f"@numba.njit({signature(layout)}, {OPTIONS})\n{flattened(source, layout)}"
    )
    return f"ensue_rules_{_digest(text)}", text


def signature(layout: Layout) -> str:
    """The types of the function's arguments, for Numba. What comes from Arrow may be read-only."""
    taken = _taken(layout).arguments
    given = len(taken) - len(layout.arrays()) - len(layout.stated()) - 1
    types = []
    for place, (type_, dimensions) in enumerate(taken):
        shape = ("", "[::1]", "[:, ::1]")[dimensions]
        types.append(f"given({type_})" if dimensions and place < given else f"{type_}{shape}")
    return f"numba.void({', '.join(types)})"


def _taken(layout: Layout) -> Signature:
    """What a function of rules takes: numbers, columns, ranks of strings, what rules state, and its state."""
    columns: list[Argument] = [("i4", 1), _COLUMN, _COLUMN]
    for _, kind in layout.inputs.values():
        columns += [("f8", 1) if kind == "f" else _COLUMN, ("u1", 1)]
    held = [_COLUMN if layout.flat(name) else _ROWS for name in (*layout.stated(), *layout.arrays())]
    stated = len(layout.stated())
    return Signature((_NUMBER, _NUMBER, *columns, _COLUMN, *held[:stated], _COLUMN, *held[stated:]))


def _digest(text: str) -> str:
    import numpy as np

    seen = f"{text}{sys.version}{native.numba_version()}{np.__version__}"
    return hashlib.sha256(seen.encode()).hexdigest()[:24]


def load(name: str, text: str) -> ModuleType:
    """A module of generated source, from its file in the cache folder."""
    if name in sys.modules:
        return sys.modules[name]
    path = cache_folder() / f"{name}.py"
    if not path.exists() or path.read_bytes() != text.encode():
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        Path(temporary).replace(path)
    _remove_damaged(name)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _remove_damaged(name: str) -> None:
    """Removes files of machine code that are not whole: Numba makes anew what is missing, but fails on what is damaged.

    They are pickles, which begin with the number of their protocol and end with a full stop.
    """
    for path in cache_folder().joinpath("__pycache__").glob(f"{name}.*.nb[ci]"):
        with suppress(OSError):  # another process may have been faster
            with path.open("rb") as file:
                first = file.read(1)
                file.seek(-len(first), os.SEEK_END)
                last = file.read(1)
            if (first, last) != (b"\x80", b"."):
                path.unlink()
