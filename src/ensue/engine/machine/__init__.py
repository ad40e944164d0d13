"""Machine code from a tiny subset of Python.

A unit is a list of texts with functions over numbers, floats, truth values and structures. `translate` gives its LLVM
IR, `build` object code for this machine, `load` functions to call; `plain` runs the same texts as Python. Machine code
calls back through `callbacks`. Nothing here imports llvmlite before something is built or loaded.
"""

from __future__ import annotations

from ensue.engine.machine.callback import Callbacks, callbacks
from ensue.engine.machine.compilation import FULL, QUICK, available, build
from ensue.engine.machine.errors import MachineError, TranslateError
from ensue.engine.machine.interpretation import plain
from ensue.engine.machine.loading import Machine, load
from ensue.engine.machine.store import cached_object
from ensue.engine.machine.tiers import Tiers
from ensue.engine.machine.translation import translate

__all__ = [
    "FULL",
    "QUICK",
    "Callbacks",
    "Machine",
    "MachineError",
    "Tiers",
    "TranslateError",
    "available",
    "build",
    "cached_object",
    "callbacks",
    "load",
    "plain",
    "translate",
]
