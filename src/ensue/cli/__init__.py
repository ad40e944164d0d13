"""The command line: `ensue check`, `fmt`, `test`, `run` and `demo`; on Spark `run`, `stream` and `state`.

Every command has its own module. It imports its dependencies when it runs, so that `ensue --version` and `ensue --help`
answer at once.
"""

import atexit
import gc
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import NoReturn

NEEDED = ("click", "rich")

usual_format = warnings.formatwarning

SELDOM = (100_000, 20, 20)
"""Thresholds of garbage collection. Searching imported modules takes a tenth of a short command's time, in vain."""


ONE_BLAS_THREAD = ("OPENBLAS_NUM_THREADS", "1")
"""Keep NumPy from starting a thread for each core on import: nothing here multiplies matrices."""


class WithoutPandas:
    """Hides pandas from pyarrow; importing it takes longer than most commands."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def with_pandas() -> None:
    """Shows pandas again, for code that needs it."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, WithoutPandas)]


def as_sentence(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:  # fmt: skip
    """A warning of Ensue's as the other messages of the command: without the place in the code that it came from."""
    if category.__module__ != "ensue.errors":
        return usual_format(message, category, filename, lineno, line)
    return f"ensue: {message}\n"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command line, that of the process if none is given, and exits with its code."""
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        print(
            "ensue: the command line needs click and rich; install them with: pip install 'ensue[cli]'", file=sys.stderr
        )
        sys.exit(2)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if arguments is None:  # the process is there for nothing else
        sys.meta_path.insert(0, WithoutPandas())
        gc.set_threshold(*SELDOM)
        warnings.formatwarning = as_sentence
        os.environ.setdefault(*ONE_BLAS_THREAD)
    code: str | int | None = 0
    try:
        from ensue.cli.commands import ensue

        ensue.main(arguments, "ensue")
    except KeyboardInterrupt:
        code = 130
    except SystemExit as end:
        code = end.code
    if arguments is None and isinstance(code, int):
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """End the process at once, if nothing runs any more.

    The system takes all memory back in one piece. The interpreter would free each object and unload each library, which
    takes a tenth of a short command's time.
    """
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return  # the interpreter reports it
    os._exit(code)
