"""Runs the notebooks in `notebooks/` in an IPython shell, without a server, and compares their outputs.

`ENSUE_UPDATE_NOTEBOOKS=1` rewrites the outputs; read the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

FOLDER = Path(__file__).parents[1] / "notebooks"

MOST = 4_000
"""Characters that a cell may show."""


def run_notebook(name: str) -> None:
    """Runs all cells of a notebook; each must show the output that the notebook has."""
    path = FOLDER / f"{name}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    shell = _new_shell()
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        shown = _run_cell(shell, "".join(cell["source"]), count)
        assert sum(len(str(output)) for output in shown) < MOST, "".join(cell["source"])
        if os.environ.get("ENSUE_UPDATE_NOTEBOOKS"):
            cell["execution_count"], cell["outputs"] = count, shown
        assert (cell["execution_count"], cell["outputs"]) == (count, shown), "".join(cell["source"])
    assert count
    written = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("ENSUE_UPDATE_NOTEBOOKS"):
        path.write_text(written, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == written, "written in another way than Jupyter does"


def _new_shell() -> InteractiveShell:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.colors = "nocolor"
    shell.history_manager.enabled = False
    # The value of a cell is taken from its result; printed as well, it would come twice.
    shell.displayhook.write_output_prompt = lambda: None
    shell.displayhook.write_format_data = lambda *_: None
    return shell


def _run_cell(shell: InteractiveShell, source: str, count: int) -> list[dict[str, Any]]:
    """Outputs of a cell: text that was printed, then the value of its last line."""
    with capture_output() as captured:
        result = shell.run_cell(source)
    result.raise_error()
    outputs: list[dict[str, Any]] = []
    if captured.stdout:
        outputs.append({"name": "stdout", "output_type": "stream", "text": captured.stdout.splitlines(keepends=True)})
    if result.result is not None:
        text = shell.display_formatter.format(result.result, include=["text/plain"])[0]["text/plain"]
        outputs.append(
            {
                "data": {"text/plain": text.splitlines(keepends=True)},
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs
