"""Generated source as a function: as it is, or compiled by Numba and kept on disk.

Compiled code is kept in a folder of the user's, beside the source it came from: ``ENSUE_CACHE_DIR`` names another one.
A file there is used only if it holds exactly the source that is wanted, and machine code only if its file is whole.
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
from pathlib import Path
from types import ModuleType
from typing import Any

from ensue.engine.compiled import kernels
from ensue.engine.compiled.indexing import flattened
from ensue.engine.compiled.layout import Layout
from ensue.errors import DetectError

Run = Callable[..., None]

HEAD = '"""Written by ensue from rules; safe to delete."""\n\nimport math\n\nimport numba\nimport numpy as np\n\n'


@cache
def kernel_source() -> str:
    """The text of the kernels, each to be compiled."""
    text = Path(kernels.__file__).read_text(encoding="utf-8")
    _, _, rest = text.partition("import numpy as np\n")
    rest = rest.replace("    return index\n", "    return np.uintp(index)\n")
    return rest.replace("\ndef ", "\n@numba.njit(cache=True, nogil=True, error_model='numpy')\ndef ")


def plain(source: str) -> Run:
    """The function as Python runs it."""
    names: dict[str, Any] = dict(vars(kernels))
    exec(compile(source, "<rules>", "exec"), names)
    return names["run"]  # type: ignore[no-any-return]


def compiled(source: str, layout: Layout) -> Run:
    """The function as Numba compiles it, now or some time before."""
    try:
        import numba  # noqa: F401
    except ImportError:
        raise DetectError("Rules are compiled with numba, which is not installed: pip install numba.") from None
    kernel_name, kernel_text = _kernel_module()
    load(kernel_name, kernel_text)
    name, text = _rule_module(source, layout)
    return load(name, text).run  # type: ignore[no-any-return]


def kernel(name: str) -> Callable[..., Any]:
    """A kernel, compiled where that is possible."""
    if importlib.util.find_spec("numba") is None:
        return getattr(kernels, name)  # type: ignore[no-any-return]
    return getattr(load(*_kernel_module()), name)  # type: ignore[no-any-return]


def is_cached(source: str, layout: Layout) -> bool:
    """Whether the function was compiled before."""
    if importlib.util.find_spec("numba") is None:
        return False
    name, _ = _rule_module(source, layout)
    return name in sys.modules or any(cache_folder().joinpath("__pycache__").glob(f"{name}.run-*.nbi"))


@cache
def _kernel_module() -> tuple[str, str]:
    text = HEAD + kernel_source()
    return f"ensue_kernels_{_digest(text)}", text


def _rule_module(source: str, layout: Layout) -> tuple[str, str]:
    names = [name for name in vars(kernels) if not name.startswith("_") and name not in ("math", "np", "u")]
    text = (
        f"{HEAD}from numba import {', '.join(('i2', 'i8', 'f8', 'u1'))}\n"
        f"from {_kernel_module()[0]} import {', '.join(names)}\n\nu = np.uintp\n\n\n"
        "def given(of):\n    return numba.types.Array(of, 1, 'C', readonly=True)\n\n\n"
        f"@numba.njit({signature(layout)}, cache=True, nogil=True, error_model='numpy')\n{flattened(source, layout)}"
    )
    return f"ensue_rules_{_digest(text)}", text


def signature(layout: Layout) -> str:
    """The types of the function's arguments. What comes from Arrow may be read-only."""
    types = ["i8", "i8", "given(i2)", "given(i8)", "given(i8)"]
    for _, kind in layout.inputs.values():
        types += ["given(f8)" if kind == "f" else "given(i8)", "given(u1)"]
    state = ["i8[::1]" if layout.flat(name) else "i8[:, ::1]" for name in layout.arrays()]
    return f"numba.void({', '.join([*types, 'given(i8)', 'i8[::1]', *state])})"


def _digest(text: str) -> str:
    import numba
    import numpy as np

    seen = f"{text}{sys.version}{numba.__version__}{np.__version__}"
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


@cache
def cache_folder() -> Path:
    """Where compiled code is kept: the user's cache, or a temporary folder if that cannot be written."""
    chosen = os.environ.get("ENSUE_CACHE_DIR")
    if chosen:
        folders = [Path(chosen)]
    elif os.name == "nt":
        folders = [Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "ensue" / "cache"]
    else:
        folders = [Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ensue"]
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="ensue-"))
