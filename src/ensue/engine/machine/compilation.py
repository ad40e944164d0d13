"""LLVM IR compiled to object code for this machine.

llvmlite is imported when code is first compiled or loaded, not before: the import takes as long as a small detection.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from ensue.engine.machine.errors import MachineError
from ensue.errors import PlainCodeWarning

QUICK, FULL = 0, 2
"""The levels of `build`: few passes, and all passes of LLVM."""

OLDEST = (0, 45)
"""The first version of llvmlite whose pointers have no type."""

VERSION = r"""version\w*['"]?\s*[=:]\s*['"](\d+\.\d+[\w.+]*)['"]"""

PASSES = (
    "sroa",
    "simplify_cfg",
    "always_inliner",
    "global_dead_code_eliminate",
    "simplify_cfg",
    "instruction_combine",
)
"""The passes of level 0. Functions are made small before they are inlined; code generation takes most of the time."""


@cache
def available() -> bool:
    """True if machine code can be compiled and loaded here.

    Ask where that is about to happen, as this imports llvmlite. One that does not load is reported once, and rules run
    as Python, as without it.
    """
    if version() is None:
        return False
    try:
        binding()
    except MachineError as error:
        warnings.warn(f"{error} Until that is repaired, rules run as Python, which is slow.", PlainCodeWarning, 2)
        return False
    return True


@cache
def version() -> str | None:
    """The version of llvmlite, read from its file; None if there is none or it is too old."""
    spec = importlib.util.find_spec("llvmlite")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "_version.py")
        found = re.search(VERSION, path.read_text(encoding="utf-8")) if path.exists() else None
        if found and tuple(map(int, found[1].split(".")[:2])) >= OLDEST:
            return found[1]
    return None


@cache
def binding() -> Any:
    """llvmlite's binding of LLVM, ready for this machine."""
    if version() is None:
        oldest = ".".join(map(str, OLDEST))
        raise MachineError(f"Machine code is made with llvmlite {oldest} or newer: pip install 'llvmlite>={oldest}'.")
    try:
        from llvmlite import binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    except (ImportError, OSError, RuntimeError) as error:  # its library, or one that it needs, is not for this machine
        raise MachineError(f"llvmlite {version()} is installed, but does not load: {error}.") from error
    return llvm


@cache
def processor() -> tuple[str, str, str]:
    """The triple, name and features of this machine's processor."""
    llvm = binding()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def target(level: int) -> Any:
    """LLVM's target machine, with code generation of the given level (0 to 3)."""
    triple, name, features = processor()
    made = binding().Target.from_triple(triple)
    return made.create_target_machine(name, features, opt=level, jit=True)


def build(ir: str, level: int) -> bytes:
    """Compile LLVM IR to object code: level 0 with a few passes, level 2 with all.

    The IR is verified first; a failure there is an error of the translator.
    """
    llvm = binding()
    try:
        module = llvm.parse_assembly(ir, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise MachineError(f"LLVM rejects what was translated: {error}") from None
    machine = target(1 if level == QUICK else 3)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    if level == QUICK:
        _few_passes(llvm, machine, module)
    else:
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _few_passes(llvm: Any, machine: Any, module: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_module_pass_manager()
    try:
        for name in PASSES:
            getattr(passes, f"add_{name}_pass")()
    except AttributeError:  # this version of llvmlite lacks one of them
        passes = builder.getModulePassManager()
    passes.run(module, builder)
